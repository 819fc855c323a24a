"""The wheel holds a program, so it is for one platform."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tags(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["CONCLAUDE_WHEEL_PLATFORM"]
