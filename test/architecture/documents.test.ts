import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createContext } from '../../cli/context.ts';
import { createProgram } from '../../cli/program.ts';
import { nodeOptionsOf } from '../../libs/product/servers/service-process.ts';
import { readServiceSettings } from '../../libs/product/servers/service-settings.ts';
import { listAnchors } from './anchors.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const pages = globSync('{*,clients/**/*,deploy/**/*,docs/**/*,services/**/*,test/**/*}.md', {
  cwd: repoDir,
  exclude: (name) => name.includes('node_modules'),
});
/** Returns the links of a generated page; link targets are relative to that page. */

/** Returns links outside code: targets relative to the repository, with their fragment. */
function readLinks(page: string): { target: string; fragment: string }[] {
  const prose = readFileSync(join(repoDir, page), 'utf8')
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:href|src)="([^"]+)"/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
  return links
    .filter((link) => !/^(https?|mailto):|^\//.test(link))
    .map((link) => {
      const [path = '', fragment = ''] = link.split('#');
      return { target: path === '' ? page : normalize(join(dirname(page), path)), fragment };
    });
}

describe('the documents', () => {
  it('the README of a service names all its features', () => {
    const folders = globSync('services/*/*/contract.ts', { cwd: repoDir }).map((file) => dirname(file).split('/'));
    expect(folders.length).toBeGreaterThan(50);
    const unnamed = folders.filter(([, service = '', feature]) => {
      const text = readFileSync(join(repoDir, 'services', service, 'README.md'), 'utf8');
      return !text.includes(`\`${feature}\``) && !text.includes(`\`${feature}/`);
    });
    expect(unnamed).toEqual([]);
  });

  it('the README of a service has at most 800 words and names existing files', () => {
    for (const readme of globSync('services/*/README.md', { cwd: repoDir })) {
      const [folder, text] = [dirname(readme), readFileSync(join(repoDir, readme), 'utf8')];
      const named = [...text.matchAll(/`((?:[\w-]+\/)*[\w-]+\.(?:html|js|json|ts))`/g)].map(([, file = '']) => file);
      // A path is relative to the repository, or to any folder of the service that the README describes.
      const missing = named.filter(
        (file) => !existsSync(join(repoDir, file)) && globSync(`${folder}/**/${file}`, { cwd: repoDir }).length === 0,
      );
      const words = text.split(/\s+/).filter((word) => word !== '').length;
      expect({ readme, missing, isShort: words <= 800 }).toEqual({ readme, missing: [], isShort: true });
    }
  });

  it('links in documents have existing targets', () => {
    const broken = pages.flatMap((page) =>
      readLinks(page)
        .filter(({ target, fragment }) => {
          if (!existsSync(join(repoDir, target))) return true;
          return (
            fragment !== '' &&
            target.endsWith('.md') &&
            !listAnchors(readFileSync(join(repoDir, target), 'utf8')).includes(fragment)
          );
        })
        .map(({ target, fragment }) => `${page}: ${target}${fragment && '#'}${fragment}`),
    );
    expect(broken).toEqual([]);
  });

  it('documents show all pictures, and reference no missing pictures', () => {
    const shown = new Set(
      pages.flatMap(readLinks).flatMap(({ target }) => (target.startsWith('docs/images/') ? [target] : [])),
    );
    const there = globSync('docs/images/*', { cwd: repoDir });
    expect(there.length).toBeGreaterThan(10);
    expect([...shown].toSorted()).toEqual(there.toSorted());
  });

  it('pictures have alternative texts and at most 200 KB', () => {
    const silent = pages.flatMap((page) =>
      [...readFileSync(join(repoDir, page), 'utf8').matchAll(/<img [^>]*>/g)]
        .map(([tag]) => tag)
        .filter((tag) => !/ alt="[^"]{10,}"/.test(tag)),
    );
    expect(silent).toEqual([]);
    const heavy = globSync('docs/images/*', { cwd: repoDir }).filter(
      (file) => statSync(join(repoDir, file)).size > 200 * 1024,
    );
    expect(heavy).toEqual([]);
  });

  it('the index of documents links to every document', () => {
    const index = new Set(
      ['docs/README.md', 'docs/rules/README.md'].flatMap(readLinks).map(({ target }) => relative('docs', target)),
    );
    const listed = pages.filter((page) => page.startsWith('docs/') && !/^docs\/(adr|runbooks)\//.test(page));
    const lost = listed
      .map((page) => relative('docs', page))
      .filter((page) => page !== 'README.md' && !index.has(page));
    expect(lost).toEqual([]);
    expect([...index].filter((target) => target === 'adr' || target === 'runbooks/README.md')).toHaveLength(2);
  });
});

const program = await createProgram('all', { json: false, openContext: () => createContext({ json: false }) });

describe('the admin CLI in documents and messages', () => {
  const readPage = (page: string): string => readFileSync(join(repoDir, page), 'utf8');

  it('documents call the admin CLI with `npm run --silent`', () => {
    const sources = globSync(
      '{*,{clients,cli,deploy,docs,lab,libs,services,test,tools}/**/*}.{md,mjs,sh,tpl,ts,txt,yaml}',
      {
        cwd: repoDir,
        exclude: (name) => name.includes('node_modules'),
      },
    );
    expect(sources.length).toBeGreaterThan(500);
    expect([...pages, ...sources].filter((page) => /npm run cl[i]\b/.test(readPage(page)))).toEqual([]);
  });

  it('documents show existing commands and options of the admin CLI', () => {
    const groups = program.commands.map((command) => command.name()).join('|');
    const shown = new RegExp(`(?:npm run --silent cli -- |\`)((?:${groups})(?: [^\`\\n#|]*)?)`, 'g');
    const unknown = pages
      .filter((page) => page !== 'CHANGELOG.md') // The changelog mentions removed files.
      .flatMap((page) => {
        const lines = [...readPage(page).matchAll(shown)].map(([, line = '']) => line.trim());
        return lines.filter((line) => !isKnown(line)).map((line) => `${page}: ${line}`);
      });
    expect(unknown).toEqual([]);
  });

  /**
   * Returns whether the command exists. Also accepts a command group without a subcommand, and a list that continues
   * with `…`.
   */
  function isKnown(line: string): boolean {
    const words = line.split(/\s+/);
    let command = program;
    while (command.commands.length > 0) {
      const word = words.shift();
      const next = command.commands.find((item) => word?.split(/[|,]/).includes(item.name()));
      if (next === undefined) return word === undefined || word === '…';
      command = next;
    }
    return words
      .filter((word) => word.startsWith('--'))
      .every((word) => command.options.some(({ long }) => long === word.split('=')[0]));
  }
});

describe('docs/guides/deployment.md', () => {
  const guide = readFileSync(join(repoDir, 'docs', 'guides', 'deployment.md'), 'utf8');

  it('the deployment guide starts services with the options of the compose file', async () => {
    const unit = /^ExecStart=(.+services\/)%i(\/main\.ts)$/m.exec(guide);
    for (const { service } of await readServiceSettings()) {
      const command = `/usr/bin/node ${nodeOptionsOf(service).join(' ')} services/${service}/main.ts`;
      const isOfUnit = command === `${unit?.[1]}${service}${unit?.[2]}`;
      expect({ service, hasOneOfItsOwn: guide.includes(`\`${command}\``) }).toEqual({
        service,
        hasOneOfItsOwn: !isOfUnit,
      });
    }
  });

  it('the deployment guide lists all required settings and no unknown ones', async () => {
    const rows = [...guide.matchAll(/^\| ([a-z -]+) \| (.*`[A-Z].*) \|$/gm)];
    expect(rows.length).toBeGreaterThan(4);
    for (const { service, properties, required } of await readServiceSettings()) {
      const given = rows
        .filter(
          ([, name = '']) =>
            name === service || name === 'all' || (name === 'all but api-gateway' && service !== 'api-gateway'),
        )
        .flatMap(([, , cell = '']) => [...cell.matchAll(/`([A-Z][A-Z0-9_]+)/g)].map((match) => match[1] ?? ''));
      expect({ service, unknown: given.filter((name) => !(name in properties)) }).toEqual({ service, unknown: [] });
      const needed = required.filter((name) => properties[name]?.default === undefined);
      expect({ service, missing: needed.filter((name) => !given.includes(name)) }).toEqual({ service, missing: [] });
    }
  });
});

describe('numbers in documents', () => {
  const names = readdirSync(join(repoDir, 'services'));
  const has = (file: string): number =>
    names.filter((name) => existsSync(join(repoDir, 'services', name, file))).length;
  const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
  const word = (count: number): string => words[count] ?? String(count);
  /** Reads a number from its declaration in the code. */
  const declared = (path: string, pattern: RegExp): number =>
    Number(pattern.exec(readFileSync(join(repoDir, path), 'utf8'))?.[1]?.replaceAll('_', ''));

  it.each<[string, RegExp, () => string]>([
    [
      'docs/operations.md',
      /next server after (\d+) seconds/,
      () => String(declared('libs/infrastructure/orm/hosts.ts', /timeoutOfHostMs = ([\d_]+)/) / 1_000),
    ],
    [
      'docs/operations.md',
      /in (\d+) s is handed back/,
      () => String(declared('libs/infrastructure/jobs/types.ts', /stopGraceMs: ([\d_]+),/) / 1_000),
    ],
    [
      'docs/operations.md',
      /when its lease of (\d+) s has ended/,
      () => String(declared('libs/infrastructure/jobs/types.ts', /leaseMs: ([\d_]+),/) / 1_000),
    ],
    [
      'services/events/README.md',
      /a lease of (\d+) s in the one row/,
      () => String(declared('services/events/feed/writer.ts', /leaseMs = ([\d_]+)/) / 1_000),
    ],
    ['deploy/helm/coherence/README.md', /a gateway and (\w+) services/, () => word(has('contract.ts'))],
    ['docs/architecture.md', /starts the (\w+) services/, () => word(has('main.ts'))],
    ['docs/scaling.md', /(\w+) services have a pool/i, () => word(has('migrations'))],
    [
      'docs/guides/backup.md',
      /(\w+) others \(`--connections`/i,
      () => word(declared('cli/backup/index.ts', /parseConnections,\s*(\d+)/)),
    ],
  ])('a number in a document matches the code: %s, %s', (path, pattern, expected) => {
    expect(pattern.exec(readFileSync(join(repoDir, path), 'utf8'))?.[1]?.toLowerCase()).toBe(expected());
  });
});
