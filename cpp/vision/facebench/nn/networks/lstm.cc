#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {

// Each word's vector through two layers of LSTM cells, all as wide as the embedding, which is there
// for each word.
static void build_lstm(Graph& g, Value x, const NetworkOptions& o) {
  x = g.lookup("lookup", x, {.width = *o.embedding});
  x = g.lstm("lstm1", x, {.out = *o.embedding});
  x = g.lstm("lstm2", x, {.out = *o.embedding});
  g.tap("embedding", x);
  tap_logits(g, "classifier", x, o);
}

std::vector<NetworkEntry> lstm_networks() {
  return {{.name = "lstm",
           .doc = "a language model, for measuring time: vectors of words, two layers of LSTM "
                  "cells; says the next word at each word (classes: the vocabulary)",
           .source = "Shi et al., 2016, table 3: LSTM; sizes: the authors' dlbench, "
                     "tools/tensorflow/rnn/lstm/lstm.py and tools/cntk/rnn/lstm/lstm.cntk",
           .defaults = {.embedding = 256, .words = 32, .vocabulary = 10000},
           .build = build_lstm}};
}

}  // namespace facebench
