/** Finds references to third-party images in the files, and pins their digests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface ImageReference {
  registry: string;
  repository: string;
  tag: string;
  /** `sha256:…`; empty if the image is not pinned. */
  digest: string;
}

export interface NamedImage extends ImageReference {
  /** Readable locations of the files that refer to the image. */
  files: string[];
}

interface ComposeFile {
  services: Record<string, { image: string; build?: unknown }>;
}
interface ChartValues {
  evaluation: Record<string, unknown>;
}

const dockerfiles = ['Dockerfile', 'test/cluster/Dockerfile'];
const composeFile = 'compose.yaml';
const valuesFile = 'deploy/helm/coherence/values.yaml';
const digestPattern = /@(sha256:[0-9a-f]{64})$/;

/** Returns `registry/repository:tag`. */
export function formatReference({ registry, repository, tag }: ImageReference): string {
  return `${registry}/${repository}:${tag}`;
}

/** @throws Error if the registry or the tag is missing */
export function parseReference(text: string): ImageReference {
  const digest = digestPattern.exec(text)?.[1] ?? '';
  const match = /^([^/]*[.:][^/]*|localhost)\/(.+):([\w.-]+)$/.exec(text.replace(digestPattern, ''));
  const [, registry, repository, tag] = match ?? [];
  if (registry === undefined || repository === undefined || tag === undefined)
    throw new Error(`${text} must name its registry and a tag, e.g. docker.io/library/${text}`);
  return { registry, repository, tag, digest };
}

/** Lists each image once, in file order, without images that are built here. @throws Error for an incomplete name */
export function listImages(repoDir: string): NamedImage[] {
  const read = (file: string): string => readFileSync(join(repoDir, file), 'utf8');
  const named: [string, ImageReference][] = [];
  const { services } = parse(read(composeFile), { merge: true }) as ComposeFile;
  for (const [name, { image, build }] of Object.entries(services))
    if (build === undefined) named.push([`${composeFile} (${name})`, parseReference(image)]);
  for (const file of dockerfiles)
    named.push([file, parseReference(/^ARG BASE_IMAGE=(.*)$/m.exec(read(file))?.[1] ?? '')]);
  const { evaluation } = parse(read(valuesFile)) as ChartValues;
  for (const [name, section] of Object.entries(evaluation)) {
    const image = (section as { image?: ImageReference }).image;
    if (image !== undefined)
      named.push([
        `${valuesFile} (evaluation.${name})`,
        parseReference(`${formatReference(image)}${image.digest && '@'}${image.digest}`),
      ]);
  }
  const images = new Map<string, NamedImage>();
  for (const [file, reference] of named) {
    const key = formatReference(reference);
    const known = images.get(key);
    if (known === undefined) images.set(key, { ...reference, files: [file] });
    else known.files.push(file);
  }
  return [...images.values()];
}

/** Pins every image of `digests`, whose keys are `registry/repository:tag`. Returns the changed files. */
export function pinImages(repoDir: string, digests: ReadonlyMap<string, string>): Map<string, string> {
  const changed = new Map<string, string>();
  for (const file of [composeFile, ...dockerfiles, valuesFile]) {
    const before = readFileSync(join(repoDir, file), 'utf8');
    let after = before;
    for (const [image, digest] of digests) {
      const { repository, tag } = parseReference(image);
      after = after
        .replaceAll(
          new RegExp(`(image: |BASE_IMAGE=)(${escape(image)})(@sha256:[0-9a-f]{64})?$`, 'gm'),
          `$1$2@${digest}`,
        )
        .replaceAll(
          new RegExp(`(repository: ${escape(repository)}, tag: ${escape(tag)}, digest: )'[^']*'`, 'g'),
          `$1'${digest}'`,
        );
    }
    if (after !== before) changed.set(file, after);
  }
  return changed;
}

/** Escapes the dot, which is the only character of image names that is special in a regular expression. */
function escape(name: string): string {
  return name.replaceAll('.', '\\.');
}
