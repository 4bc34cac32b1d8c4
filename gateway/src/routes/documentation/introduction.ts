/** The first page of the documentation, in Markdown. */
export const introduction = `Check-in at gates, vouchers, ticket layouts, tickets as PDF, batches for offline sales, and the erasure of personal data.
Events, products, orders and keys come in as records, through \`POST /api/v1/import/\`.

**Credentials.** Send \`Authorization: Token <key>\` with an API key, or \`Authorization: Device <key>\` with the token of a scanner. The operator makes both. A person with a browser signs in with a link of the operator, and is known by a cookie where there is no such header.

**Bodies** are JSON; forms are read, too, where a body is no list. Instants are ISO 8601 in UTC, decimals are strings. Unknown fields and parameters are ignored.

**Lists** come in pages: ask for \`page\` and \`page_size\`, or follow \`next\` until it is null.

**Errors.** 400 has messages under the names of fields, or \`detail\` where it is about the whole request; all others have \`detail\`. After 409, 429 and 503 wait for \`Retry-After\`, and send the same again. A 409 that stays after one repetition is final, unless a job still runs (\`status\`): read its \`detail\`.

**Repetitions.** With \`X-Idempotency-Key\` a request that is sent again is not done again: its answer, also a refusal, is repeated for a day. A scan has its own \`nonce\`.

**Clients** can be generated of this document, which is at \`/api/v1/openapi.json\`: tested are openapi-typescript, openapi-python-client, and openapi-generator for Python, Go and Kotlin. Defaults of bodies stand in descriptions, and so do the types of the few fields that have several.

**Examples** are requests to the demo that \`npm start\` loads, and its answers; some show what it has only later, or fewer results. Where the demo runs, its keys are filled in: press "Test Request".`;
