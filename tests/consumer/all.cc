// Uses what needs torch: builds a network and embeds an image with it.
#include <ATen/ops/zeros.h>
#include <facebench/all.h>

#include <cstdlib>
#include <iostream>

int main() {
  facebench::Image image;
  image.width = image.height = 112;
  image.data.assign(std::size_t{112} * 112 * image.channels(), 128);

  const facebench::Network network = facebench::build_network("mobilefacenet");
  const at::Tensor embedding =
      network.infer(at::zeros({1, image.channels(), image.height, image.width}));
  std::cout << "facebench " << facebench::version() << ": embedding of " << embedding.size(1)
            << " numbers\n";
  return embedding.dim() == 2 && embedding.size(0) == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
