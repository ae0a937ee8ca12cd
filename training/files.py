"""What the files in the folder of a run are called."""

from __future__ import annotations

from typing import Final

CONFIG: Final = "config.yaml"
CHECKPOINT: Final = "checkpoint.pkl"
METRICS: Final = "metrics.jsonl"
TENSORBOARD: Final = "tensorboard"
POLICY: Final = "policy.safetensors"
RESULT: Final = "result.json"
CARD: Final = "README.md"
CURVES: Final = "curves.png"
EXPLOIT: Final = "exploit.json"
