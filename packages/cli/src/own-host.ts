/** Tells whether a host of a URL is this machine itself. */
export function isOwnHost(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);
}
