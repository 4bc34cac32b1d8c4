export const sessionCookie = "tessera_session";

/** The values of a cookie in a header; browsers send several of one name where several paths have it. */
export function readCookies(header: string, name: string): string[] {
  return header.split(";").flatMap((part) => {
    const [key = "", value] = part.split(/=(.*)/s);
    return key.trim() === name && value !== undefined ? [value.trim()] : [];
  });
}

export interface CookieOptions {
  /** The public address of the deployment. */
  readonly base: string;
  /** Below the base. */
  readonly path: string;
  /** 0: the browser deletes it. */
  readonly seconds: number;
  readonly sameSite: "Strict" | "Lax";
}

/** Writes a cookie that no script reads, and that only this deployment gets. */
export function writeCookie(name: string, value: string, { base, path, seconds, sameSite }: CookieOptions): string {
  const { protocol, pathname } = new URL(base);
  const secure = protocol === "https:" ? "; Secure" : "";
  const scope = `Path=${pathname.replace(/\/+$/, "")}${path}; Max-Age=${seconds}`;
  return `${name}=${value}; ${scope}; HttpOnly; SameSite=${sameSite}${secure}`;
}
