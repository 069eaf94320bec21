# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Graph attention on a random graph; two nodes have no neighbour.
import numpy as np

from parts import Data, softmax, wide


def case(nodes):
    data = Data(nodes)
    features, to, source = data.normal(1, 4, nodes, 16), data.normal(4, nodes), data.normal(4, nodes)
    adjacency = data.random.random((nodes, nodes)) < 0.15
    np.fill_diagonal(adjacency, True)
    adjacency[[2, nodes - 1]] = False
    wide_features, wide_to, wide_source = wide(features, to, source)
    scores = wide_to[None, :, :, None] + wide_source[None, :, None, :]
    scores = np.where(scores > 0, scores, np.float32(0.2) * scores)
    y = softmax(scores, np.broadcast_to(adjacency, scores.shape)) @ wide_features
    assert (y[:, :, 2] == 0).all()
    return "layer", [features, to, source, adjacency], (y,)


CASES = [case(50), case(300)]
