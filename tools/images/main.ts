/**
 * `npm run images`: lists the third-party images in compose.yaml, the Dockerfiles and the chart, and checks that their
 * registries have them. For platform teams, `--pin` writes the digests into the files, and `--mirror` prints the source
 * and target of each image to copy.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repoDir } from '../check/commands.ts';
import { formatReference, listImages, type NamedImage, pinImages } from './references.ts';
import { type Finding, findImage } from './registry.ts';

const usage = `usage: npm run images -- [options]
  --from URL           ask this mirror (http or https) instead of the registries; REGISTRY_CREDENTIALS=user:password when it asks for them
  --pin                write the digests into compose.yaml, the Dockerfiles and the chart's values
  --mirror PREFIX      print "source target" of every image for a mirror, e.g. registry.example.org/mirror; nothing is asked
  --json               print JSON alone`;

interface Row extends NamedImage {
  finding: Finding;
}

const { values: options } = parseArgs({
  options: {
    from: { type: 'string' },
    pin: { type: 'boolean', default: false },
    mirror: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) console.log(usage);
else if (options.mirror !== undefined) printCopies(listImages(repoDir), options.mirror);
else process.exitCode = await check();

/** Prints source and target names. The targets have the names that the chart's `global.imageRegistry` expects. */
function printCopies(images: readonly NamedImage[], prefix: string): void {
  for (const { registry, repository, tag, digest } of images) {
    const source = digest === '' ? `${registry}/${repository}:${tag}` : `${registry}/${repository}@${digest}`;
    console.log(`${source} ${prefix.replace(/\/$/, '')}/${repository}:${tag}`);
  }
}

/** @returns the exit status: 1 if an image is missing, 2 if an image could not be checked */
async function check(): Promise<number> {
  const credentials = process.env['REGISTRY_CREDENTIALS'] || undefined;
  const rows: Row[] = [];
  for (const image of listImages(repoDir))
    rows.push({ ...image, finding: await findImage(image, { from: options.from, credentials }) });
  if (options.json) console.log(JSON.stringify(rows, null, 2));
  else printRows(rows);
  if (options.pin) pin(rows);
  if (rows.some(({ finding }) => finding.state === 'missing')) return 1;
  return rows.some(({ finding }) => finding.state === 'unknown') ? 2 : 0;
}

function printRows(rows: readonly Row[]): void {
  for (const { finding, files, ...image } of rows) {
    console.log(`${formatReference(image)}\n    named by  ${files.join(', ')}`);
    if (finding.state !== 'found') {
      console.log(`    ${finding.state.padEnd(8)}  ${finding.reason}`);
      continue;
    }
    const moved = image.digest !== '' && image.digest !== finding.digest ? `, pinned is another: ${image.digest}` : '';
    console.log(`    found     ${finding.digest}${moved}`);
    if (finding.platforms.length > 0) console.log(`    for       ${finding.platforms.join(', ')}`);
  }
  const unknown = rows.filter(({ finding }) => finding.state === 'unknown').length;
  if (unknown === 0) return;
  console.log(
    `\n${unknown} of ${rows.length} could not be checked. Run this where the registries, or a mirror of them (--from), can be reached;\n` +
      'through a proxy with NODE_USE_ENV_PROXY=1.',
  );
}

function pin(rows: readonly Row[]): void {
  const digests = new Map(
    rows.flatMap((row) => (row.finding.state === 'found' ? [[formatReference(row), row.finding.digest] as const] : [])),
  );
  const changed = pinImages(repoDir, digests);
  for (const [file, text] of changed) writeFileSync(join(repoDir, file), text);
  const files = [...changed.keys()].join(', ');
  console.error(
    changed.size === 0
      ? '\nNothing to pin.'
      : `\nPinned in ${files}. Write what is derived from them anew with: npm run fix`,
  );
}
