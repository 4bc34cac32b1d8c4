/** The most bytes of a file in a gRPC message, which has at most 16 MiB. */
export const mostAnswerBytes = 15 * 1024 * 1024;
