#pragma once

#include "facebench/nn/graph.h"

namespace facebench {

// Calls field(name, value) for each field of an operation's options, under the name that files and
// exporters know it by.
void each_field(NoOptions&, auto&&) {}
void each_field(ConvOptions& o, auto&& field) {
  field("out", o.out);
  field("kernel", o.kernel);
  field("stride", o.stride);
  field("padding", o.padding);
  field("dilation", o.dilation);
  field("groups", o.groups);
  field("bias", o.bias);
}
void each_field(LinearOptions& o, auto&& field) {
  field("out", o.out);
  field("bias", o.bias);
}
void each_field(BatchNormOptions& o, auto&& field) {
  field("eps", o.eps);
  field("momentum", o.momentum);
  field("scale", o.scale);
  field("shift", o.shift);
}
void each_field(PreluOptions& o, auto&& field) { field("shared", o.shared); }
void each_field(PoolOptions& o, auto&& field) {
  field("kernel", o.kernel);
  field("stride", o.stride);
  field("padding", o.padding);
  field("ceil_mode", o.ceil_mode);
  field("count_include_pad", o.count_include_pad);
}
void each_field(AdaptivePoolOptions& o, auto&& field) { field("out", o.out); }
void each_field(LrnOptions& o, auto&& field) {
  field("size", o.size);
  field("alpha", o.alpha);
  field("beta", o.beta);
  field("k", o.k);
}
void each_field(DropoutOptions& o, auto&& field) { field("p", o.p); }
void each_field(ScaleOptions& o, auto&& field) { field("factor", o.factor); }
void each_field(LayerNormOptions& o, auto&& field) { field("eps", o.eps); }
void each_field(AttentionOptions& o, auto&& field) { field("heads", o.heads); }
void each_field(WordsOptions& o, auto&& field) { field("vocabulary", o.vocabulary); }
void each_field(LookupOptions& o, auto&& field) { field("width", o.width); }
void each_field(LstmOptions& o, auto&& field) { field("out", o.out); }

}  // namespace facebench
