"""The SGLang plugin. The only room that may import torch or sglang, and only when used."""
