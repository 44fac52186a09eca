#include "facebench/detection/mtcnn_options.h"

#include "facebench/core/options.h"

namespace facebench {

void MtcnnOptions::describe(OptionsBuilder<MtcnnOptions>& o) {
  o.name("MtcnnOptions", "The MTCNN cascade.");
  o.choice("mode", &MtcnnOptions::mode, "whose implementation it follows", mtcnn_modes().names());
  o.field("weights", &MtcnnOptions::weights,
          "mtcnn.safetensors; default: the file installed with the library");
  o.field("min_face", &MtcnnOptions::min_face, "smallest face that is looked for, pixels", 4, 1e5);
  o.field("max_face", &MtcnnOptions::max_face,
          "largest face that the pyramid looks for, pixels; default: no bound", 4, 1e6);
  o.field("factor", &MtcnnOptions::factor, "from one level of the pyramid to the next", 0.1, 0.99);
  o.field("thresholds", &MtcnnOptions::thresholds, "least scores of P-Net, R-Net and O-Net", 0, 1);
  o.field("nms", &MtcnnOptions::nms,
          "overlap that suppresses: within a level, over all levels, after R-Net, after O-Net", 0,
          1);
  o.field("second_look", &MtcnnOptions::second_look,
          "an image without a face is searched again, within a grey border, for one that fills it; "
          "default: in mode facenet, whose program does not");
  o.field("box_offset", &MtcnnOptions::box_offset,
          "added to boxes and landmarks at the end, pixels (-1 turns the 1-based numbers of all "
          "modes into 0-based ones)",
          -10, 10);
  o.choice("path", &MtcnnOptions::path,
           "kernels for the processor, or the clear loops that they are compared with",
           {"fast", "plain"});
  o.choice("device", &MtcnnOptions::device,
           "the processor, or the first CUDA device (modes facenet and facenet_pytorch)",
           {"cpu", "cuda"});
}

}  // namespace facebench
