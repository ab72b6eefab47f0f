"""Settings: what can be set, where it is read from, and whether it can work on this machine."""

from second_brain.config.checks import validate
from second_brain.config.options import OPTIONS, Kind, Option, markdown_table
from second_brain.config.profiles import profile_file, profile_names
from second_brain.config.settings import Settings
from second_brain.config.sources import config_file_in_use, load_settings

__all__ = [
    "OPTIONS",
    "Kind",
    "Option",
    "Settings",
    "config_file_in_use",
    "load_settings",
    "markdown_table",
    "profile_file",
    "profile_names",
    "validate",
]
