"""The lists that quantizers write and how each engine reads them, as data.

`read_config` turns a published ``quantization_config`` into a value; `producer_reading` and `engine_reading` say what
its producer meant and what an engine makes of it, layer by layer. How each reads is written in ``readings`` and
executed by one small interpreter.
"""

from qpolicy.native.config import Entry, Group, NativeConfig, NativeConfigError, read_config
from qpolicy.native.drafts import draft_class, draft_nulling
from qpolicy.native.lists import NativeList, native_list
from qpolicy.native.mapper import Mapper
from qpolicy.native.places import consulted_place
from qpolicy.native.reading import Answer, Reading, engine_reading, producer_reading
from qpolicy.native.records import engines_and_versions, knows_engine

__all__ = [
    "Answer",
    "Entry",
    "Group",
    "Mapper",
    "NativeConfig",
    "NativeConfigError",
    "NativeList",
    "Reading",
    "consulted_place",
    "draft_class",
    "draft_nulling",
    "engine_reading",
    "engines_and_versions",
    "knows_engine",
    "native_list",
    "producer_reading",
    "read_config",
]
