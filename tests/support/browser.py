"""Pages in a real browser: Debian's chromium with its driver, moved by selenium."""

import json
import shutil
from pathlib import Path

import pytest


class Browser:
    """A window of chromium that keeps what a page asked for and complained of."""

    def __init__(self, folder):
        webdriver = pytest.importorskip(
            "selenium.webdriver", reason="needs selenium: pip install selenium"
        )
        programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
        for name, path in programs.items():
            if path is None:
                pytest.skip(f"{name} is not installed: apt-get install chromium chromium-driver")
        options = webdriver.ChromeOptions()
        options.binary_location = programs["chromium"]
        for switch in ("headless=new", "no-sandbox", "disable-gpu", "disable-component-update"):
            options.add_argument(f"--{switch}")
        options.add_argument(f"--user-data-dir={folder / 'profile'}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.add_experimental_option("prefs", {"download.default_directory": f"{folder}"})
        service = webdriver.ChromeService(programs["chromedriver"])
        self.downloads = folder
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": f"{folder}"}
        )

    def open(self, page, width=1280, scheme="light"):
        """Opens a file or an address at a width, light or dark."""
        cdp = self.driver.execute_cdp_cmd
        media = {"name": "prefers-color-scheme", "value": scheme}
        cdp("Emulation.setEmulatedMedia", {"features": [media]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        cdp("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(Path(page).as_uri() if isinstance(page, Path) else page)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def asked(self):
        """The addresses that were asked for since the last call, but for data and this machine's
        files."""
        messages = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        urls = [m["params"]["request"]["url"] for m in messages
                if m["method"] == "Network.requestWillBeSent"]  # fmt: skip
        return [u for u in urls if not u.startswith(("data:", "file:", "blob:", "chrome:"))]

    def complaints(self):
        """Errors of scripts and of loading since the last call."""
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]

    def until(self, condition):
        """What a function gives as soon as that is true."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 20, 0.05).until(lambda _: condition())

    def waited(self, script, *arguments):
        """What a script says as soon as that is true."""
        return self.until(lambda: self.run(script, *arguments))

    def close(self):
        self.driver.quit()
