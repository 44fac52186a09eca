#include "facebench/training/internal/shared_values.h"

#include <cstring>
#include <span>

#include "facebench/nn/internal/aten.h"

namespace facebench {

std::int64_t shared_number(Communicator& communicator, std::int64_t number) {
  at::Tensor t = at::full({1}, number, at::TensorOptions(at::kLong));
  communicator.broadcast(std::span(&t, 1), 0);
  return t.item<std::int64_t>();
}

std::string shared_text(Communicator& communicator, const std::string& text) {
  const std::int64_t size = shared_number(communicator, static_cast<std::int64_t>(text.size()));
  at::Tensor t = at::zeros({size}, at::TensorOptions(at::kByte));
  if (communicator.rank() == 0) std::memcpy(t.data_ptr(), text.data(), text.size());
  communicator.broadcast(std::span(&t, 1), 0);
  return {static_cast<const char*>(t.const_data_ptr()), static_cast<std::size_t>(size)};
}

std::vector<std::string> gathered_texts(Communicator& communicator, const std::string& text) {
  at::Tensor t = at::empty({static_cast<std::int64_t>(text.size())}, at::TensorOptions(at::kByte));
  std::memcpy(t.data_ptr(), text.data(), text.size());
  std::vector<std::string> texts;
  for (const at::Tensor& part : communicator.all_gather(t)) {
    const at::Tensor bytes = part.contiguous();
    texts.emplace_back(static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes());
  }
  return texts;
}

}  // namespace facebench
