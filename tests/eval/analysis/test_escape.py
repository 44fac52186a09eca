"""What means something in HTML and Markdown is escaped."""

from facebench.reports import escape


def test_what_means_something_is_escaped():
    escaped = escape.escape_markdown
    assert escaped("a`<img src=x onerror=y>") == r"a\`\<img src=x onerror=y\>"
    links = "[x](javascript:y) | [a][b] [c]: d"
    assert escaped(links) == r"[x\](javascript:y) \| [a\][b] [c\]: d"
    assert escaped("&lt;b&#62; R&D & Co") == r"\&lt;b\&#62; R\&D & Co"
    assert escaped("a\n# b\r\n\x1b[2J") == r"a # b  \\x1b[2J"
    # Intervals stay readable as they are.
    assert escaped("99.37 [99.10, 99.60] (3 at FAR)") == "99.37 [99.10, 99.60] (3 at FAR)"
    latex = r"\textbackslash{}input\{/etc/passwd\}\% \#\$\&\_\textasciitilde{}\textasciicircum{}"
    assert escape.escape_latex("\\input{/etc/passwd}%\n#$&_~^") == latex
    record = escape.spreadsheet_record
    formulas = ["=cmd|'/C calc'!A0", "+1+1", "@x", "-2+3", "\t=1"]
    assert record(formulas) == "'=cmd|'/C calc'!A0,'+1+1,'@x,'-2+3,' =1\n"
    assert record(["-0.25", "1e-3", "a=b", "", "a,b"]) == '-0.25,1e-3,a=b,,"a,b"\n'
