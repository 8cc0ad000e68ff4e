#include "bench/report/report_grades.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/report/html.hpp"

namespace heptad::cli {

std::string grades_headline(const Json& grades) {
    const auto best = std::count_if(grades.begin(), grades.end(), [](const Json& grade) {
        return grade.is_object() && word(grade, "grade").starts_with("A");  // "A, or refused", too
    });
    return grades.empty() ? "" : fmt::format("Grade A: {} of {} products", best, grades.size());
}

std::string grades_html(const Json& grades) {
    struct GradeColumn {
        const char *key, *title, *kind;
    };
    constexpr GradeColumn kColumns[] = {{"product", "product", "text"},
                                        {"type", "type", "text"},
                                        {"grade", "grade", "text"},
                                        {"zeros", "zeros kept", "text"},
                                        {"wide_span", "wide span kept", "text"},
                                        {"error_over_u", "error / u", "number"},
                                        {"growth", "growth with n", "number"}};
    std::string head, rows;
    for (const auto& [key, title, kind] : kColumns) {
        head += fmt::format(R"(<th scope="col" class="{}">{}</th>)", kind, title);
    }
    for (const Json& grade : grades) {
        rows += "<tr>";
        for (const auto& [key, title, kind] : kColumns) {
            const Figure number = grade.is_object() ? figure(grade, key) : std::nullopt;
            const std::string text = number              ? fmt::format("{:.3g}", *number)
                                     : grade.is_object() ? word(grade, key)
                                                         : "";
            rows += fmt::format(R"(<td class="{}" data-l="{}">{}</td>)", kind, title, html_text(text));
        }
        rows += "</tr>\n";
    }
    return rows.empty() ? ""
                        : fmt::format(
                              "<h3>Grades</h3><p class=\"note\">Are zeros zero, do rows and columns of a wide "
                              "span keep their digits, does the error grow no more than linearly?</p>\n"
                              "<table><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table>\n",
                              head, rows);
}

}  // namespace heptad::cli
