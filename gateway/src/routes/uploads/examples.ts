import type { Example } from "../../http/route.ts";

/** An empty page. */
const content = `%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 420 595]>> endobj
trailer <</Root 1 0 R /Size 4>>
%%EOF
`;

export const uploadExample = {
  status: "created",
  type: "application/pdf",
  body: content,
  answer: { id: "file:5f0c8a52-6b0e-4c7e-9d55-0e6f5f3a9c11" },
} satisfies Example;
