// Releases of templates, masks, faces and sets; see release.h.

#include <array>

#include "facebench/io/mat5.h"
#include "lists/release.h"

namespace facebench {
namespace {

// --- VGGFace2 ------------------------------------------------------------------------------------
// visym/vipy: vipy/dataset/vggface2.py (test_posetemp_imglist.txt beside the folders of people; the
//   first ten of a person are frontal)
// ox-vgg/vgg_face2: README.md (30 images of 368 people, 20 of 100; templates of five)

TEST(Release, VggFace2ListsBesideTheFoldersOrInMeta) {
  for (const std::string lists : {"", "meta/", "data/"})
    for (const std::string images : {"", "test/", "data/test/"}) {
      Release release("vggface2_age");
      std::string text;
      for (int person = 1; person <= 2; ++person)
        for (int k = 0; k < 20; ++k) {
          const std::string name = fmt::format("n{:06d}/{:04d}_01.jpg", person, k);
          text += name + "\r\n";
          release.image(images + name);
        }
      // The fourth image of a template is its first once more.
      text = with(text, "n000002/0003_01.jpg", "n000002/0000_01.jpg");
      release.file(lists + "test_agetemp_imglist.txt", text);
      const DataCheck check = release.check();
      EXPECT_EQ(check.missing, 0) << lists << images;
      EXPECT_EQ(kinds(check.blemishes), (Texts{"repeated_in_template 1", "crlf 1"}));
      EXPECT_EQ(places(check.blemishes, BlemishKind::repeated_in_template),
                (Texts{"test_agetemp_imglist.txt:24 n000002/0000_01.jpg, as in line 21"}));
      const TrialSet set = release.read();
      EXPECT_EQ(set.templates.size(), 8u);
      // Each row counts: the template has five samples, one of them twice.
      EXPECT_EQ(set.templates.begin[5] - set.templates.begin[4], 5);
    }
}

// --- DFW -----------------------------------------------------------------------------------------
// iamgroot42/A-LINK: generatePredictions.py (Testing_data_face_name.txt in DFW/DFW_Data; blanks
//   behind slashes in the list, byte order marks and blanks in the names of files and folders)
// iamgroot42/A-LINK: ROC.py, "provided by DFW" (a mask of 7771 x 7771; only entries after the
//   diagonal are read; each counts by its own value)
// abhinav30/Disguised-Face-Recognition (the same list of names)

TEST(Release, DfwWithMarksAndBlanksInTheListAndOnDisk) {
  const std::string mark = "\xEF\xBB\xBF";
  Release release("dfw");
  std::string names, mask;
  const int people = 6, images = 3, n = people * images;
  for (int p = 0; p < people; ++p)
    for (int k = 0; k < images; ++k) {
      names += fmt::format("Testing_data/P{}/{}P{}_{}.jpg\r\n", p, k == 1 ? " " : "", p, k);
      // One folder ends in a mark, one file too, one begins with a blank.
      release.image(fmt::format("DFW_Data/Testing_data/P{}{}/{}P{}_{}{}.jpg", p, p == 2 ? mark : "",
                                k == 2 ? " " : "", p, k, k == 0 && p == 3 ? mark : ""));
    }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const bool same = i / images == j / images;
      const int kind = (i + j) % 2 == 0 ? 1 : 2;
      // The two impostor values alternate as well; the mask contradicts itself once, and once
      // below the diagonal.
      int value = same ? kind : kind + 2;
      if (i == 0 && j == 1) value = 4;
      mask += fmt::format("{:.18e} ", static_cast<double>(i == 5 && j == 0 ? 0 : value));
    }
    mask += "\n";
  }
  release.file("DFW_Data/Testing_data_face_name.txt", names);
  release.file("DFW_Data/updated_testing_mask.txt", mask);
  const DataCheck check = release.check();
  EXPECT_EQ(check.missing, 0) << check.first_missing.front();
  EXPECT_EQ(kinds(check.blemishes),
            (Texts{"mask_conflict 2", "mask_asymmetry 2", "crlf 1", "blanks 6"}));
  EXPECT_EQ(places(check.blemishes, BlemishKind::mask_conflict).at(0),
            "updated_testing_mask.txt:1 entry 2 calls Testing_data/P0/P0_0.jpg and "
            "Testing_data/P0/P0_1.jpg impostors, but genuine entries connect them");
  EXPECT_EQ(places(check.blemishes, BlemishKind::blanks).at(0),
            "Testing_data_face_name.txt:2 in the name 'Testing_data/P0/P0_1.jpg'");
  // The entry counts: 15 genuine pairs of the first kind and 18 - 1 of the other... in all.
  const TrialSet set = release.read();
  EXPECT_EQ(set.identity_names.size(), 6u);
  const TrialSize size = set.tracks[2].trials->size(set);
  EXPECT_EQ(size.comparisons, n * (n - 1) / 2);
  EXPECT_EQ(size.genuine, people * 3 - 1);
}

TEST(Release, DfwWithANameThatIsThereTwice) {
  Release release("dfw");
  release.file("Testing_data_face_name.txt", "a/1.jpg\na/2.jpg\nb/1.jpg\na/1.jpg\n");
  release.file("updated_testing_mask.txt", "1 1 3 1\n1 1 4 2\n3 4 1 4\n1 2 4 1\n");
  const TrialSet set = release.read();
  EXPECT_EQ(kinds(set.blemishes), (Texts{"repeated_name 1"}));
  EXPECT_EQ(set.names, (Texts{"a/1.jpg", "a/2.jpg", "b/1.jpg"}));
  EXPECT_EQ(set.tracks[2].trials->shape(), (std::vector<std::int64_t>{4, 4}));
  // Every row and column counts: three genuine, three impostor.
  EXPECT_EQ(set.tracks[2].trials->size(set).genuine, 3);
  EXPECT_EQ(set.tracks[2].trials->size(set).comparisons, 6);
}

// --- UMDFaces ------------------------------------------------------------------------------------
// AruniRC/resnet-face-pytorch: umd-face/run_crop_face.py (umdfaces_batch3/FILE, columns by name,
//   blanks around fields passed over)
// jiaMery/umdfaces2VOC2007: Annotations_and_JPEGImages.py (FILE is the second column, the box
//   columns 5 to 8)

TEST(Release, UmdFacesAsItsBatchesUnpack) {
  Release release("umdfaces");
  std::string text =
      "SUBJECT_INDEX,FILE,SUBJECT_ID,IMAGE,FACE_X,FACE_Y,FACE_WIDTH,FACE_HEIGHT,"
      "PITCH,YAW,ROLL,PR_MALE,PR_FEMALE,P1X,P1Y\n";
  for (const std::string person : {"aaron_ashmore", "barbara_bush", "cat_deeley"})
    for (int k = 0; k < 4; ++k) {
      const std::string file = fmt::format("{}/{}_{:04d}.jpg", person, person, k);
      text += fmt::format("{}, {}, {}, x,1.5,2.5,30,40, -3.2, {}, 0,.5,.5,1,2\n", k, file, person,
                          std::array<double, 4>{0, 3, 12, 40}[static_cast<std::size_t>(k)]);
      release.image("umdfaces_batch3/" + file);
    }
  text += "9,aaron_ashmore/aaron_ashmore_0001.jpg,aaron_ashmore,x,1,2,30,40,0,80,0,.5,.5,1,2\n";
  release.file("umdfaces_batch3/umdfaces_batch3_ultraface.csv", text);
  const ProtocolSpec spec = changed("umdfaces", {{"size = 5000", "size = 2"}});
  for (const std::string root : {".", "umdfaces_batch3"}) {
    const DataCheck check = check_data(spec, {release.path() / root});
    EXPECT_EQ(check.missing, 0) << root;
    EXPECT_EQ(kinds(check.blemishes), (Texts{"repeated_name 1", "blanks 12"}));
    EXPECT_EQ(places(check.blemishes, BlemishKind::repeated_name),
              (Texts{"umdfaces_batch3_ultraface.csv:14 aaron_ashmore/aaron_ashmore_0001.jpg"}));
  }
}

// --- IJB-A ---------------------------------------------------------------------------------------
// seasonSH/Probabilistic-Face-Embeddings: evaluation/ijba.py (IJB-A_11_sets/split1/..., the first
//   four columns, the image by its stem)
// bioidiap/bob.db.ijba: bob/db/ijba/reader.py (IJB-A_11_sets, IJB-A_1N_sets)
// AruniRC/resnet-face-pytorch: ijba/eval_ijba_1_1.py
// ch10tang/FR_Pretrained_Test: IJB-A_protocols (the official lists; splits 2, 5, 7 and 8 hold four
//   frames of one template twice, with another SIGHTING_ID)

const std::string kIjbaHeader = "TEMPLATE_ID,SUBJECT_ID,FILE,MEDIA_ID,SIGHTING_ID,FRAME,FACE_X\r\n";

TEST(Release, IjbaWithRepeatedRowsAndComparisons) {
  for (const std::string root : {"", "IJB-A/", "protocol/"}) {
    Release release("ijba_1_1");
    release.file(root + "IJB-A_11_sets/split1/verify_metadata_1.csv",
                 kIjbaHeader +
                     "1,10,img/1.jpg,100,1,,5\n1,10,frame/7_1.png,7,2,1,\n"
                     "1,10,img/1.jpg,100,3,,6\n2,10,img/2.jpg,101,4,,\n3,11,img/3.JPG,"
                     "102,5,,\n");
    release.file(root + "IJB-A_11_sets/split1/verify_comparisons_1.csv",
                 "1,2\r\n2,1\r\n1,3\r\n2, 3\r\n3,3\r\n");
    for (const std::string image : {"img/1.png", "frame/7_1.png", "img/2.jpg", "img/3.jpg"})
      release.image("images/" + image);
    const DataCheck check = release.check();
    EXPECT_EQ(check.missing, 0) << root;
    EXPECT_EQ(kinds(check.blemishes), (Texts{"repeated_pair 1", "self_comparison 1",
                                             "repeated_in_template 1", "crlf 2", "blanks 1"}));
    EXPECT_EQ(places(check.blemishes, BlemishKind::repeated_pair),
              (Texts{"IJB-A_11_sets/split1/verify_comparisons_1.csv:2 templates 2 and 1, as in "
                     "line 1"}));
    EXPECT_EQ(release.read().templates.begin.at(1), 3);
  }
}

TEST(Release, IjbaColumnsInAnotherOrderAreReadByName) {
  Release release("ijba_1_n");
  const std::string rows = "img/1.jpg,10,1,100\nimg/2.jpg,11,2,101\n";
  release.file("IJB-A_1N_sets/split1/search_gallery_1.csv",
               "FILE,SUBJECT_ID,TEMPLATE_ID,MEDIA_ID\n" + rows);
  release.file("IJB-A_1N_sets/split1/search_probe_1.csv",
               "TEMPLATE_ID,SUBJECT_ID,FILE,MEDIA_ID\n3,10,img/3.jpg,103\n");
  const TrialSet set = release.read();
  EXPECT_EQ(kinds(set.blemishes), (Texts{"column_order 1"}));
  EXPECT_EQ(places(set.blemishes, BlemishKind::column_order),
            (Texts{"IJB-A_1N_sets/split1/search_gallery_1.csv:1 SUBJECT_ID comes earlier than in "
                   "the official file"}));
  EXPECT_EQ(set.names, (Texts{"img/1.jpg", "img/2.jpg", "img/3.jpg"}));
}

// --- IJB-A quality -------------------------------------------------------------------------------
// nz0001na/cross-quality_FR: code_face_identification/namelist_high.mat and its two neighbours (the
//   authors' lists), code_verification_samples/create_datafiles.py (every probe with the gallery)
// seasonSH/Probabilistic-Face-Embeddings: evaluation/ijba.py (the files that the lists name)

TEST(Release, IjbaQualityWithANameThatIsThereTwice) {
  Release release("ijba_quality");
  const auto list = [](const std::vector<std::array<std::string, 2>>& rows) {
    std::vector<MatArray> cells;
    for (const int column : {0, 1})
      for (const auto& row : rows) cells.push_back(mat_text(row[static_cast<std::size_t>(column)]));
    return mat5_bytes(
        {{"namelist", mat_cells({static_cast<std::int64_t>(rows.size()), 2}, std::move(cells))}});
  };
  release.file("namelist_high.mat", list({{"10", "1.jpg"}, {"11", "2.jpg"}}));
  release.file("namelist_middle.mat", list({{"10", "3.jpg"}, {"11", "2.jpg"}, {"10", "3.jpg "}}));
  release.file("namelist_low.mat", list({{"10", "5.jpg"}, {"11", "6.jpg"}}));
  for (const std::string image :
       {"img/1.png", "img/2.jpg", "frame/3.png", "img/5.jpg", "img/6.JPG"})
    release.image("IJB-A/images/" + image);
  const DataCheck check = release.check();
  EXPECT_EQ(check.missing, 0);
  EXPECT_EQ(kinds(check.blemishes), (Texts{"repeated_name 2", "blanks 1"}));
  EXPECT_EQ(
      places(check.blemishes, BlemishKind::repeated_name).at(0),
      "namelist_middle.mat:0 namelist, row 2: 2.jpg, as in namelist_high.mat: namelist, row 2");
  // The first counts: 2.jpg is of high quality.
  EXPECT_EQ(check.tracks.at(1).counts.at(0).found, 2);
}

}  // namespace
}  // namespace facebench
