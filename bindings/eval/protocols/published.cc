#include "facebench/protocols/published.h"

#include "common.h"
#include "facebench/protocols/published_json.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {

void bind_published(py::module_& m) {
  m.def("publication_names", &publication_names);
  m.def(
      "load_publication",
      [](const std::string& name_or_path) {
        return json_to_python(publication_json(load_publication(name_or_path)));
      },
      py::arg("name_or_path"));
  m.def(
      "published_values",
      [](const std::string& name_or_path) {
        const Publication publication = load_publication(name_or_path);
        Json values = Json::array();
        for (const PublishedValue& v : published_values(publication))
          values.push_back(published_value_json(v));
        return json_to_python(values);
      },
      py::arg("name_or_path"));
  m.def("list_conditions",
        [] { return table_list(condition_names(), "identity", &ConditionName::identity); });
  m.def("list_published_units", [] { return published_units().names(); });
  m.def("list_erratum_kinds", [] { return erratum_kinds().names(); });
}

}  // namespace facebench
