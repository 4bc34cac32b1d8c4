import { arrayOf, choice, id, object, text } from "@tessera/schema/build";
import { invalidIn, record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";

/** Twice the size of a thousand parts with all fields, so that the error can say that there are too many. */
const batchBytes = 512 * 1024;

const part = object(
  {
    orderposition: id({ description: "The ticket." }),
    override_channel: text({
      nullable: true,
      default: null,
      maxLength: 190,
      description: "A sales channel that the layout is selected for, instead of the order's.",
    }),
    override_layout: id({ nullable: true, default: null, description: "Instead of the layout that is selected." }),
  },
  { required: ["orderposition"] },
);

export const batchBody = bodyOf(
  {
    title: "RenderBatch",
    ...object(
      {
        parts: arrayOf(part, { minItems: 1, description: "The tickets of the file, in order: at most 1000." }),
        on_error: choice(["stop", "skip"], {
          default: "stop",
          description:
            "What becomes of a part that cannot be printed: it fails the job, with a message that names it, or the file lacks it.",
        }),
      },
      { required: ["parts"] },
    ),
  },
  { maxBytes: batchBytes },
);

export const startedShown = record("RenderStarted", {
  download: text({ description: "Answers the file once it is made." }),
});

export const invalidParts = invalidIn("PartErrors", "parts", ["on_error"]);
