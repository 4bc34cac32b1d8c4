// What the programs of packages may see of the environment while they are installed: nothing that this project reads.
// Runs under every Node that can report its own version as too old: no syntax newer than Node 14.

/** Where programs, folders and authorities are, how the registry is reached, and which language people read. */
const needed = [
  /^(?:path|home|user|logname|shell|term|tz|lang|lc_.*|tmpdir|tmp|temp|ld_library_path|nix_.*|xdg_.*)$/i,
  /^(?:https?|all|no|ftp)_proxy$/i,
  /^(?:ssl_cert_.*|node_extra_ca_certs|node_options|node_tls_.*|node_use_.*)$/i,
  /^(?:npm_.*|pnpm_.*|node_auth_token|corepack_.*)$/i,
];

/**
 * Returns the variables that an install needs. CI keeps pnpm from asking before it removes something.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function chooseVariables(env) {
  const chosen = Object.entries(env).filter(([name]) => needed.some((pattern) => pattern.test(name)));
  return { ...Object.fromEntries(chosen), CI: "true" };
}
