"""A recipe trained by PyTorch."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from facebench.lab.engines.heads import keeps_unit_rows, loss_of, unit_rows
from facebench.lab.engines.pytorch_engine import GraphModule


class RecipeOptimizer:
    """The recipe's SGD, with either rule of momentum, or its Adam (docs/training.md): a decay and a
    factor of the rate for each parameter."""

    def __init__(self, parameters, spec):
        self.spec, self.steps = spec, 0
        self.rules = [
            (p, spec["decay"].get(n, 0.0), spec["rates"].get(n, 1.0)) for n, p in parameters.items()
        ]
        moments = 2 if spec["optimizer"] == "adam" else 1
        self.moments = [[torch.zeros_like(p) for _ in range(moments)] for p in parameters.values()]

    @torch.no_grad()
    def step(self, rate):
        self.steps += 1
        for (p, decay, factor), moments in zip(self.rules, self.moments, strict=True):
            gradient, own_rate = p.grad + decay * p, rate * factor
            if len(moments) == 2:
                self.move_by_moments(p, gradient, own_rate, *moments)
            else:
                self.move_by_momentum(p, gradient, own_rate, *moments)

    def move_by_momentum(self, p, gradient, rate, velocity):
        caffe = self.spec["momentum_rule"] == "caffe"
        velocity.mul_(self.spec["momentum"]).add_(gradient, alpha=rate if caffe else 1)
        p.sub_(velocity, alpha=1 if caffe else rate)

    def move_by_moments(self, p, gradient, rate, mean, squares):
        beta1, beta2 = self.spec["beta1"], self.spec["beta2"]
        mean.lerp_(gradient, 1 - beta1)
        squares.lerp_(gradient.square(), 1 - beta2)
        root = (squares / (1 - beta2**self.steps)).sqrt() + self.spec["eps"]
        p.sub_(mean / root, alpha=rate / (1 - beta1**self.steps))


class Fit:
    """Steps of a recipe; what ``spec["own"]`` names is PyTorch's own: its initial values
    (initializer), torch.optim's SGD or Adam with one decay for all (optimizer), a scheduler of
    torch.optim.lr_scheduler that moves at the ends of epochs (schedule)."""

    def __init__(self, spec, weights):
        torch.manual_seed(spec["seed"])
        own_parts, self._loss = spec["own"], spec["loss"]
        self._device = torch.device(spec["device"])
        self._module = GraphModule(spec["graph"], None if "initializer" in own_parts else weights)
        self._module.to(self._device)
        self._module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # not in torch's types
        self._module.train()
        self._head = {
            name.removeprefix("head."): torch.from_numpy(value.copy())
            for name, value in weights.items()
            if name.startswith("head.") and value.ndim
        }
        if "initializer" in own_parts:
            self._initialize()
        self._head = {n: t.to(self._device) for n, t in self._head.items()}
        names = [n for n in self._head if n != "centers" or self._loss["update"] == "caffe"]
        learned = {f"head.{n}": self._head[n].requires_grad_() for n in names}
        learned |= {n: p for n, p in self._module.tensors().items() if p.requires_grad}
        self._learned, self._steps = list(learned.values()), 0
        self._own: torch.optim.Optimizer | None = None
        self._of_recipe: RecipeOptimizer | None = None
        if "optimizer" not in own_parts:
            self._of_recipe = RecipeOptimizer(learned, spec)
        elif spec["optimizer"] == "adam":
            betas, more = (spec["beta1"], spec["beta2"]), {"weight_decay": spec["weight_decay"]}
            self._own = torch.optim.Adam(self._learned, spec["lr"], betas, spec["eps"], **more)
        else:
            self._own = torch.optim.SGD(
                self._learned, spec["lr"], spec["momentum"], weight_decay=spec["weight_decay"]
            )
        self._rate = _own_schedule(spec) if "schedule" in own_parts else None

    def _initialize(self):
        """As nn.Linear for the classifier; weights that are compared by their cosine as users of
        PyTorch have them, xavier_uniform_."""
        if "bias" in self._head:
            classes, features = self._head["weight"].shape
            layer = nn.Linear(features, classes)
            self._head |= {n: p.data for n, p in layer.named_parameters()}
        else:
            nn.init.xavier_uniform_(self._head["weight"])

    def step(self, images, labels, recipe_rate) -> float:
        """The loss of the next step, on images (N, C, H, W) of classes (N)."""
        rate = recipe_rate if self._rate is None else self._rate(self._steps)
        images = torch.from_numpy(images).to(self._device, memory_format=torch.channels_last)
        hot = F.one_hot(torch.from_numpy(labels), len(self._head["weight"])).float()
        if keeps_unit_rows(self._loss):
            self._head["weight"].data = unit_rows(torch, self._head["weight"].detach())
        features = self._module(images).flatten(1)
        steps_before = torch.tensor(float(self._steps))
        values, state = loss_of(
            torch, self._loss, features, hot.to(self._device), self._head, steps_before
        )
        loss = values.mean()
        for p in self._learned:
            p.grad = None
        loss.backward()
        if self._of_recipe is not None:
            self._of_recipe.step(rate)
        elif self._own is not None:
            self._own.param_groups[0]["lr"] = rate
            self._own.step()
        for name, value in state.items():
            self._head[name] = value.detach()
        self._steps += 1
        return loss.item()

    def tensors(self) -> dict[str, np.ndarray]:
        """The weights, by the names of the graph."""
        tensors = {f"head.{n}": t for n, t in self._head.items()} | self._module.tensors()
        return {n: t.detach().cpu().contiguous().numpy() for n, t in tensors.items()}


def _own_schedule(spec):
    """A function of the step: the rate that torch's scheduler gives in its epoch."""
    schedule, schedulers = spec["schedule"], torch.optim.lr_scheduler
    dummy = torch.optim.SGD([torch.zeros(1)], spec["lr"])
    makers = {
        "constant": lambda: schedulers.ConstantLR(dummy, 1.0),
        "cosine": lambda: schedulers.CosineAnnealingLR(dummy, spec["epochs"], schedule["final_lr"]),
        "step": lambda: schedulers.StepLR(dummy, int(schedule["step"]), schedule["gamma"]),
        "multistep": lambda: schedulers.MultiStepLR(
            dummy, [int(m) for m in schedule["milestones"]], schedule["gamma"]
        ),
    }
    scheduler, rates = makers[schedule["policy"]](), []
    for _ in range(spec["epochs"]):
        rates.append(dummy.param_groups[0]["lr"])
        dummy.step()
        scheduler.step()
    return lambda step: rates[min(int(step / spec["steps_an_epoch"]), len(rates) - 1)]
