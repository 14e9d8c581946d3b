"""The agents that can be driven, one file each; a driver is loaded on demand, by its file's name."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files

from hookport.lab.driver import Driver


def list_names() -> list[str]:
    """List every driver, in alphabetical order."""
    file_names = (path.name for path in files(__name__).iterdir())
    return sorted(
        name.removesuffix(".py").replace("_", "-")
        for name in file_names
        if name.endswith(".py") and not name.startswith("_")
    )


def get(name: str) -> Driver:
    """The driver of that name."""
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    driver: Driver = module.DRIVER
    return driver if driver.dialect else driver._replace(dialect=name.replace("-", "_"))


def get_dialect_id(driver: Driver) -> str:
    """Return the id of the driver's dialect."""
    return driver.dialect.replace("_", "-")
