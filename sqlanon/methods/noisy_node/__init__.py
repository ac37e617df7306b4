"""The runs of IPA, the histogram and ε-safe anonymization, by name in policies."""

RUNS = {
    "ipa": "sqlanon.methods.noisy_node.ipa:NoisyCountsRun",
    "histogram": "sqlanon.methods.noisy_node.ipa:NoisyCountsRun",
    "epsilon-safe": "sqlanon.methods.noisy_node.epsilon_safe:EpsilonSafeRun",
}
