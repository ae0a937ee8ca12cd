"""The networks of the learner, in torch: for each kind a trunk that SB3 takes as its feature extractor.

A trunk goes from observations to features; policy and value are one linear layer each on top of them. The
weights go out under the names that `threeup_env.agents.networks` gives the same kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from threeup_env.agents.networks import MLP, Network
from threeup_env.errors import InvalidConfigError
from threeup_env.rules import Rules
from training.config import Config, NetworkSettings
from training.encodings import ENCODINGS


class Trunk(BaseFeaturesExtractor):
    """An encoding, then hidden layers with rectified units.

    Args:
        observation_space: The space of observations `(D,)`.
        rules: The rules they are made under.
        encoding: The name of the encoding.
        network: Kind and shape.
    """

    def __init__(self, observation_space: spaces.Box, rules: Rules, encoding: str, network: NetworkSettings) -> None:
        encoder = ENCODINGS[encoding](rules)
        super().__init__(observation_space, network.hidden[-1] if network.hidden else encoder.size)
        self.encoder = encoder
        self.hidden = nn.ModuleList()
        inputs = encoder.size
        for units in network.hidden:
            self.hidden.append(nn.Linear(inputs, units))
            inputs = units

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features, float32 `(N, features_dim)`, of observations, float32 `(N, D)`."""
        features: torch.Tensor = self.encoder(observations)
        for layer in self.hidden:
            features = torch.relu_(layer(features))
        return features


def policy_arguments(config: Config, rules: Rules) -> dict[str, Any]:
    """The `policy_kwargs` that make SB3's actor-critic policy the network of `config`."""
    return {
        "features_extractor_class": Trunk,
        "features_extractor_kwargs": {"rules": rules, "encoding": config.encoding, "network": config.network},
        "share_features_extractor": config.network.shared,
        "net_arch": [],
        "normalize_images": False,
        "optimizer_kwargs": {"fused": True},
    }


def exported_network(config: Config) -> Network:
    """Kind and shape of the policy's network, as policy files state them.

    Raises:
        InvalidConfigError: The encoding is not the default one, so that no policy file can hold it.
    """
    if config.encoding != "default":
        raise InvalidConfigError(f"encoding: {config.encoding!r} cannot be saved as a policy file; allowed: 'default'")
    return MLP(hidden=config.network.hidden)


def export_weights(policy: MaskableActorCriticPolicy) -> dict[str, npt.NDArray[np.float32]]:
    """A copy of the policy's weights, float32, by the names of a policy file."""
    trunk = policy.pi_features_extractor
    assert isinstance(trunk, Trunk)
    layers: dict[str, Any] = {f"hidden.{i}": layer for i, layer in enumerate(trunk.hidden)}
    layers["action"] = policy.action_net
    weights = {}
    for name, layer in layers.items():
        weights[f"{name}.weight"] = layer.weight.detach().numpy(force=True).copy()
        weights[f"{name}.bias"] = layer.bias.detach().numpy(force=True).copy()
    return weights
