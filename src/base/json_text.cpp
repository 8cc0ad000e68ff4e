#include "base/json_text.hpp"

#include <nlohmann/json.hpp>

#include "base/fail_if.hpp"

namespace heptad {

nlohmann::json parse_json(const std::string& text) {
    using Event = nlohmann::json::parse_event_t;
    const auto check_depth = [](int around, Event event, nlohmann::json&) {
        const bool opens = event == Event::array_start || event == Event::object_start;
        fail_if(opens && around >= kDeepestJson, ErrorCode::input,
                "the JSON is nested more than {} deep, and no file of Heptad is", kDeepestJson);
        return true;
    };
    try {
        return nlohmann::json::parse(text, check_depth);
    } catch (const nlohmann::json::parse_error& problem) {  // its sentence may hold bytes that are no text
        fail(ErrorCode::input, "this is not JSON, as byte {} shows", problem.byte);
    } catch (const nlohmann::json::exception& problem) {
        fail(ErrorCode::input, "this is not JSON: {}", problem.what());
    }
}

}  // namespace heptad
