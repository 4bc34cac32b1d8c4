import { compileLayoutSchema, draftLayout } from "@tessera/resources/ticket-layout";
import { arrayOf, choice, id, integer, object, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { record } from "../../http/answers.ts";
import { bodyOf, type ObjectBody } from "../../http/route.ts";
import { layoutLimits } from "../ticket-layouts/schema.ts";

const preview = {
  title: "LayoutPreview",
  ...object({
    ...draftLayout,
    position: id({ nullable: true, default: null, description: "A ticket; null: one of sample data." }),
    format: choice(["pdf", "png"], { default: "pdf" }),
    dpi: integer({ default: 150, minimum: 36, maximum: 600, description: "Of a PNG: dots per inch." }),
    page: integer({ default: 1, minimum: 1, maximum: 10_000, description: "Of a PNG: which page it shows." }),
  }),
};

export const previewBody: ObjectBody<TypeOf<typeof preview>> = {
  ...bodyOf(preview, layoutLimits),
  check: compileLayoutSchema(preview, "elements"),
};

const lint = { title: "LayoutLint", ...object(draftLayout) };

export const lintBody: ObjectBody<TypeOf<typeof lint>> = {
  ...bodyOf(lint, layoutLimits),
  check: compileLayoutSchema(lint, "elements"),
};

const finding = {
  element: integer({ description: "Of the element in the layout, from 1." }),
  code: text({
    description:
      "One of `code_too_light`, `code_too_long`, `code_too_small`, `ground_too_dark`, `no_size`, `no_such_page`, `no_text`, `outside_page`, `overlapping_codes`, `text_too_light`, `text_too_long`, `unknown_font` and `unknown_variable`; there may be more.",
  }),
  message: text({ description: "For people." }),
};

export const findingsShown = record("LayoutFindings", {
  tickets: integer({ description: "How many tickets of the event were looked at; 0: sample data was." }),
  findings: arrayOf(object(finding, { required: ["element", "code", "message"], closed: true })),
});
