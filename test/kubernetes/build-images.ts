import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installOnce } from "@tessera/testkit/engines/engine-process";
import { runTool } from "./run-tool.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const base = "localhost/node:24-bookworm-slim";

/** The targets of the Dockerfile, and the images that they become. */
export const targets = { tessera: "localhost/tessera", chromium: "localhost/tessera-chromium" } as const;
type Target = keyof typeof targets;

/** An image, as far as the tests ask. */
export interface BuiltImage {
  readonly user: string;
  readonly labels: Readonly<Record<string, string>>;
  /** With its layers packed by gzip, as a registry holds it. */
  readonly packedBytes: number;
}

/** Runs buildah, which runs the steps of a Dockerfile without a daemon. */
function buildah(args: readonly string[], minutes = 5): Promise<string> {
  return runTool("buildah", args, { minutes, env: { BUILDAH_ISOLATION: "chroot" } });
}

/**
 * Builds both images from the Dockerfile as it is, with this tag. The base image is made of Debian's packages and the
 * Node of this repository, because a registry may be out of reach.
 */
export async function buildImages(tag: string): Promise<void> {
  await makeBase();
  for (const [target, name] of Object.entries(targets)) {
    const revision = ["--build-arg", `REVISION=${tag}`, "--build-arg", "VERSION=0.1.0"];
    const how = ["--format", "docker", "--pull-never", "--layers", "--target", target, ...revision];
    await buildah(["build", ...how, "--tag", `${name}:${tag}`, root], 40);
  }
}

/** Makes another build of both images: the same files, and another revision. */
export async function rebuildImages(from: string, tag: string): Promise<void> {
  for (const name of Object.values(targets)) {
    const container = (await buildah(["from", `${name}:${from}`])).trim();
    try {
      await buildah(["config", "--label", `org.opencontainers.image.revision=${tag}`, container]);
      await buildah(["commit", "--quiet", "--format", "docker", container, `${name}:${tag}`]);
    } finally {
      await buildah(["rm", container]);
    }
  }
}

/** As in the slim images of Debian: no packages that are only recommended, no Perl, and of the documentation the licences. */
const slim = [
  // Otherwise the package that merges /usr comes, and Perl with it.
  "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
  "--aptopt=APT::Install-Recommends false",
  "--dpkgopt=path-exclude=/usr/share/doc/*",
  "--dpkgopt=path-include=/usr/share/doc/*/copyright",
];

async function makeBase(): Promise<void> {
  const known = await buildah(["images", "--quiet", base]).catch(() => "");
  if (known.trim() !== "") return;
  const folder = await installOnce("debian-bookworm-slim", async (draft) => {
    const packages = ["--variant=minbase", "--include=ca-certificates,usr-is-merged"];
    await runTool("mmdebstrap", ["--quiet", ...packages, ...slim, "bookworm", join(draft, "base.tar")], {
      minutes: 15,
    });
  });
  const scratch = await mkdtemp(join(tmpdir(), "tessera-base-"));
  const container = (await buildah(["from", "scratch"])).trim();
  try {
    await runTool("npm", ["pack", "--silent", "--pack-destination", scratch, "npm@11"]);
    await runTool("sh", ["-c", `tar -xzf "${scratch}"/npm-*.tgz -C "${scratch}"`]);
    await buildah(["add", "--quiet", container, join(folder, "base.tar"), "/"]);
    await buildah(["copy", "--quiet", container, process.execPath, "/usr/local/bin/node"]);
    await buildah(["copy", "--quiet", container, join(scratch, "package"), "/usr/local/lib/node_modules/npm"]);
    const npm =
      "printf '#!/bin/sh\\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js \"$@\"\\n' > /usr/local/bin/npm";
    await buildah(["run", container, "--", "sh", "-c", `${npm} && chmod +x /usr/local/bin/npm`]);
    await addAuthorities(container);
    await buildah(["commit", "--quiet", "--format", "docker", container, base]);
  } finally {
    await buildah(["rm", container]);
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Packages may come through a proxy that only this machine trusts. */
async function addAuthorities(container: string): Promise<void> {
  const file = "/etc/ssl/certs/ca-certificates.crt";
  if ((await stat(file).catch(() => undefined)) === undefined) return;
  await buildah(["copy", "--quiet", container, file, file]);
  await buildah(["config", "--env", `NODE_EXTRA_CA_CERTS=${file}`, "--cmd", "node", container]);
}

/** Reads what an image says of itself, and measures it. */
export async function inspectImage(target: Target, tag: string): Promise<BuiltImage> {
  const image = `${targets[target]}:${tag}`;
  const { Docker } = JSON.parse(await buildah(["inspect", "--type", "image", image])) as {
    Docker: { config: { User: string; Labels: Record<string, string> } };
  };
  const packed = await saveImage(image, "oci-archive");
  try {
    return { user: Docker.config.User, labels: Docker.config.Labels, packedBytes: (await stat(packed.path)).size };
  } finally {
    await packed.remove();
  }
}

/** Looks for files in an image, by patterns of `find -path`. */
export function findInImage(target: Target, tag: string, patterns: readonly string[]): Promise<string[]> {
  return withFiles(target, tag, async (folder) => {
    const any = patterns.flatMap((pattern) => ["-o", "-path", join(folder, pattern)]).slice(1);
    const found = await runTool("find", [folder, "-xdev", ...["(", ...any, ")"]]);
    return found
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.slice(folder.length));
  });
}

/** Reads a text file of an image. */
export function readInImage(target: Target, tag: string, path: string): Promise<string> {
  return withFiles(target, tag, (folder) => readFile(join(folder, path), "utf8"));
}

async function withFiles<T>(target: Target, tag: string, use: (folder: string) => Promise<T>): Promise<T> {
  const container = (await buildah(["from", `${targets[target]}:${tag}`])).trim();
  try {
    return await use((await buildah(["mount", container])).trim());
  } finally {
    await buildah(["rm", container]);
  }
}

/** Writes an image to an archive, for a container engine. */
export async function saveImage(
  image: string,
  kind: "docker-archive" | "oci-archive" = "docker-archive",
): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "tessera-image-"));
  const path = join(folder, "image.tar");
  await buildah(["push", "--quiet", image, `${kind}:${path}:${image}`], 10);
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
