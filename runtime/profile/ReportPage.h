//===- ReportPage.h - the HTML report's page ---------------------------------===//
//
// Owns the markup, style and drawing code of the HTML report, with a mark where Html.cpp puts the data.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace trn::rt {
extern const char *const kReportPage;
} // namespace trn::rt
