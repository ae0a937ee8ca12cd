"""The networks of the learner, in torch: for each kind a trunk that SB3 takes as its feature extractor.

A trunk goes from observations to features; policy and value are one linear layer each on top of them. The
weights go out under the names that `threeup_env.agents.networks` gives the same kind.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from threeup_env.agents.networks import MLP, Kinds, Network, kind_readings, make_outlook
from threeup_env.cards import MAX_COPIES, NUM_KINDS
from threeup_env.core.outlook import outlook_size
from threeup_env.errors import InvalidConfigError
from threeup_env.observation import observation_layout
from threeup_env.rules import Rules
from training.config import Config, NetworkSettings
from training.encodings import ENCODINGS


def _hidden_layers(inputs: int, hidden: tuple[int, ...]) -> nn.ModuleList:
    return nn.ModuleList(nn.Linear(*shape) for shape in zip((inputs, *hidden), hidden, strict=False))


class MLPTrunk(BaseFeaturesExtractor):
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
        self.hidden = _hidden_layers(encoder.size, network.hidden)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features, float32 `(N, features_dim)`, of observations, float32 `(N, D)`."""
        features: torch.Tensor = self.encoder(observations)
        for layer in self.hidden:
            features = torch.relu_(layer(features))
        return features


class KindsTrunk(BaseFeaturesExtractor):
    """Kinds of card as tokens (`threeup_env.agents.networks.Kinds`); its features are the last hidden layer and scores.

    Args:
        observation_space: The space of observations `(D,)`.
        rules: The rules they are made under.
        encoding: The name of the encoding; only `default` has columns by kind.
        network: Kind and shape.
    """

    readings: torch.Tensor

    def __init__(self, observation_space: spaces.Box, rules: Rules, encoding: str, network: NetworkSettings) -> None:
        units, last = network.units, network.hidden[-1]
        super().__init__(observation_space, last + NUM_KINDS * MAX_COPIES)
        layout = observation_layout(rules)
        readings = torch.from_numpy(kind_readings(layout, network.sums).copy())
        self.register_buffer("readings", readings, persistent=False)
        self.units = units
        self.kind = nn.Linear(readings.shape[2], units)
        self.kind.bias = nn.Parameter(torch.zeros(NUM_KINDS, units))
        self.hidden = _hidden_layers(NUM_KINDS * units + layout.size, network.hidden)
        self.score_kind = nn.Linear(units, units)
        self.score_hidden = nn.Linear(last, units, bias=False)
        self.score_play = nn.Linear(units, MAX_COPIES)
        self.rules = rules
        self.kind_outlook = self.score_outlook = None
        if network.outlook:
            size = outlook_size(rules.num_players)
            self.kind_outlook, self.score_outlook = (nn.Linear(size, units, bias=False) for _ in range(2))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features, float32 `(N, features_dim)`, of observations, float32 `(N, D)`."""
        # The shared weights as one matrix, as a product is faster than to collect the columns.
        spread = (self.readings @ self.kind.weight.T).flatten(1)
        tokens = observations @ spread + self.kind.bias.flatten()
        outlook = None
        if self.kind_outlook is not None:
            outlook = torch.from_numpy(make_outlook(self.rules, observations.to(torch.int8).numpy()))
            outlook = outlook.to(self.kind.weight.dtype)
            tokens = tokens + self.kind_outlook(outlook).flatten(1)
        tokens = torch.relu_(tokens)
        features = torch.cat([tokens, observations.to(tokens.dtype)], dim=1)
        for layer in self.hidden:
            features = torch.relu_(layer(features))
        scores = self.score_kind(tokens.view(-1, NUM_KINDS, self.units)) + self.score_hidden(features)[:, None]
        if self.score_outlook is not None:
            scores = scores + self.score_outlook(outlook)
        scores = torch.relu_(scores)
        return torch.cat([features, self.score_play(scores).flatten(1)], dim=1)


class AllHandsValue(nn.Module):
    """A value layer that is also shown what the player may not know: `LearnerBatch.hidden_cards`.

    It judges in training alone; the policy never sees it (asymmetric actor-critic; Pinto et al., 2018).

    Args:
        features: Size of the trunk's features.
        hidden_cards: Size of what is shown on top.
        units: Units of its hidden layer.
    """

    def __init__(self, features: int, hidden_cards: int, units: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(features + hidden_cards, units)
        self.value = nn.Linear(units, 1)

    def forward(self, features: torch.Tensor, hidden_cards: torch.Tensor) -> torch.Tensor:
        """Values `(N, 1)`."""
        inputs = torch.cat([features, hidden_cards.to(features.dtype)], dim=1)
        values: torch.Tensor = self.value(torch.relu_(self.hidden(inputs)))
        return values


class ActorCritic(MaskableActorCriticPolicy):
    """SB3's actor-critic policy, whose critic may see all hands.

    Args:
        arguments: As for MaskableActorCriticPolicy.
        critic_units: Units of the critic's hidden layer where it sees all hands, else 0.
        hidden_cards: Size of what it is shown then.
        has_lessons: Whether there is a `lesson_value_net`, which says on top of the policy's features what the actions
            of a position are worth on average, in lessons alone (`training.lessons`).
    """

    lesson_value_net: nn.Linear

    def __init__(
        self, *arguments: Any, critic_units: int = 0, hidden_cards: int = 0, has_lessons: bool = False, **named: Any
    ) -> None:
        self.critic_units, self.hidden_cards, self.has_lessons = critic_units, hidden_cards, has_lessons
        super().__init__(*arguments, **named)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        if self.critic_units:
            # SB3 expects a single layer.
            self.value_net = AllHandsValue(  # type: ignore[assignment]
                self.features_dim, self.hidden_cards, self.critic_units
            )
        if self.has_lessons:
            self.lesson_value_net = nn.Linear(self.features_dim, 1)
        if self.critic_units or self.has_lessons:
            make_optimizer: Any = self.optimizer_class
            self.optimizer = make_optimizer(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def judge(self, features: torch.Tensor, hidden_cards: torch.Tensor) -> torch.Tensor:
        """Values `(N,)` of positions, given the trunk's features and the hidden cards, int8 `(N, H)`."""
        values: torch.Tensor
        values = self.value_net(features, hidden_cards) if self.critic_units else self.value_net(features)
        return values.flatten()


_TRUNKS: Final[dict[str, type[BaseFeaturesExtractor]]] = {"mlp": MLPTrunk, "kinds": KindsTrunk}


def policy_arguments(config: Config, rules: Rules) -> dict[str, Any]:
    """The `policy_kwargs` that make SB3's actor-critic policy the network of `config`."""
    return {
        "features_extractor_class": _TRUNKS[config.network.kind],
        "features_extractor_kwargs": {"rules": rules, "encoding": config.encoding, "network": config.network},
        "share_features_extractor": config.network.shared,
        "net_arch": [],
        "normalize_images": False,
        "optimizer_kwargs": {"fused": True},
        "critic_units": config.network.critic_units,
        "hidden_cards": (2 * rules.num_players - 1) * NUM_KINDS,
        "has_lessons": config.num_lessons > 0,
    }


def exported_network(config: Config) -> Network:
    """Kind and shape of the policy's network, as policy files state them.

    Raises:
        InvalidConfigError: The encoding is not the default one, so that no policy file can hold it.
    """
    if config.encoding != "default":
        raise InvalidConfigError(f"encoding: {config.encoding!r} cannot be saved as a policy file; allowed: 'default'")
    if config.network.kind == "kinds":
        network = config.network
        return Kinds(units=network.units, sums=network.sums, outlook=network.outlook, hidden=network.hidden)
    return MLP(hidden=config.network.hidden)


def export_weights(policy: MaskableActorCriticPolicy) -> dict[str, npt.NDArray[np.float32]]:
    """A copy of the policy's weights, float32, by the names of a policy file."""
    trunk: Any = policy.pi_features_extractor
    layers: dict[str, Any] = {f"hidden.{i}": layer for i, layer in enumerate(trunk.hidden)}
    layers["action"] = policy.action_net
    if isinstance(trunk, KindsTrunk):
        layers |= {"kind": trunk.kind, "score.kind": trunk.score_kind, "score.hidden": trunk.score_hidden}
        layers["score.play"] = trunk.score_play
        if trunk.kind_outlook is not None:
            layers |= {"kind.outlook": trunk.kind_outlook, "score.outlook": trunk.score_outlook}
    return {
        f"{name}.{key}": value.numpy(force=True).copy()
        for name, layer in layers.items()
        for key, value in layer.state_dict().items()
    }
