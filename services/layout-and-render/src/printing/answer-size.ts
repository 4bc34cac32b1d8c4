/** A message has at most 16 MiB; a file in it has at most this. */
export const mostAnswerBytes = 15 * 1024 * 1024;
