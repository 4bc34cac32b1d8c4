/** The sales channel that exists without a record. */
export const webChannel = "web";
