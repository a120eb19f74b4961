/**
 * The TypeScript client package as used by others: packed by npm, installed from the tarball, and used by Node, the
 * compiler and bundlers against a running platform.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packClient } from '../../tools/client/pack.ts';
import { applyDemo, startTestPlatform, type TestPlatform } from './test-platform.ts';

const run = promisify(execFile);
const binDir = join(import.meta.dirname, '..', '..', 'node_modules', '.bin');

let platform: TestPlatform;
let folder: string;
let project: string;
let program: string;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory'] });
  await applyDemo(platform, 'package');
  folder = mkdtempSync(join(tmpdir(), 'client-package-'));
  const tarball = await packClient(join(folder, 'packed'));
  project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
  // Example user code: logs in, reads a paginated list, and distinguishes an error by its type.
  program = `
import { ApiError, createClient, isErrorOf, listItems } from '@coherence/client';

const door = createClient({ baseUrl: '${platform.baseUrl}', loginKey: '${platform.loginSecret}' });
const { body } = await door.login({ body: { email: 'root-package@example.org', password: 'secret-of-root-package' } });
const client = door.withToken(body.token);
const names = [];
for await (const holon of listItems(client.listHolons, { query: { class: 'event', limit: 1 } })) names.push(holon.name);
let refusal = '';
try {
  await client.getHolon({ path: { holon_id: 999999 } });
} catch (error) {
  if (isErrorOf(error, 'getHolon') && error.status === 404 && error instanceof ApiError) refusal = error.operation;
}
console.log(JSON.stringify({ names, refusal }));
`;
  writeFileSync(join(project, 'main.mjs'), program);
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
});

const told = { names: ['Event package'], refusal: 'getHolon' };
async function say(node: string, file: string): Promise<unknown> {
  const { stdout } = await run(node, [file], { cwd: project });
  return JSON.parse(stdout);
}

/** Returns the Node of the machine if it is version 20 or later, otherwise the pinned one. */
function findOwnNode(): string {
  const dirs = (process.env['PATH'] ?? '').split(delimiter).filter((dir) => !dir.includes('node_modules'));
  return dirs.map((dir) => join(dir, 'node')).find((file) => existsSync(file)) ?? process.execPath;
}

/** Writes the TypeScript of README and quickstart as files of the project, and returns their names. */
function writeSnippets(): string[] {
  writeFileSync(join(project, 'process.d.ts'), 'declare const process: { env: Record<string, string | undefined> };\n');
  const pages = ['clients/typescript/README.md', 'docs/quickstart.md'];
  const texts = pages.map((page) => readFileSync(join(import.meta.dirname, '..', '..', page), 'utf8')).join('\n');
  return [...texts.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text = ''], index) => {
    writeFileSync(join(project, `snippet-${index}.ts`), text);
    return `snippet-${index}.ts`;
  });
}

describe('TypeScript client package', () => {
  it('contains only JavaScript, declarations, README and licence', () => {
    const dir = join(project, 'node_modules', '@coherence', 'client');
    expect(readdirSync(dir).toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    const files = readdirSync(join(dir, 'dist'));
    expect(
      files.filter(
        (file) =>
          !/^(attempts|errors|event-types|events|index|operations|pages|transport|webhooks)\.(js|d\.ts)$/.test(file),
      ),
    ).toEqual([]);
    expect(readFileSync(join(dir, 'dist', 'index.js'), 'utf8')).not.toContain(".ts'");
    const { version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { version: string };
    const own = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(version).toBe(own.version);
  });

  it('runs in the current Node and in the pinned version', async () => {
    const own = findOwnNode();
    expect(Number(/^v(\d+)/.exec((await run(own, ['--version'])).stdout)?.[1])).toBeGreaterThanOrEqual(20);
    expect([await say(own, 'main.mjs'), await say(process.execPath, 'main.mjs')]).toEqual([told, told]);
  });

  it.each(['nodenext', 'bundler'])(
    'has types that a strict TypeScript compiler accepts and enforces (%s)',
    async (resolution) => {
      const wrong = [
        '// @ts-expect-error a parameter that is missing\nawait client.getHolon({ path: {} });',
        '// @ts-expect-error an operation that nobody has\nawait client.removeEverything();',
        '// @ts-expect-error a number is no text\nfor await (const holon of listItems(client.listHolons, {})) holon.name satisfies number;',
      ];
      writeFileSync(
        join(project, 'main.ts'),
        program.replace('const names = [];', 'const names: string[] = [];') + wrong.join('\n'),
      );
      const compilerOptions = {
        module: resolution === 'bundler' ? 'esnext' : 'nodenext',
        moduleResolution: resolution,
        target: 'es2022',
        lib: ['es2023', 'dom', 'dom.asynciterable'],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: false,
      };
      const snippets = writeSnippets();
      const files = ['main.ts', 'process.d.ts', ...snippets];
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      expect(snippets.length).toBeGreaterThan(4);
      const { stdout } = await run(join(binDir, 'tsc'), ['-p', project]).catch((error: { stdout: string }) => error);
      expect(stdout).toBe('');
    },
  );

  it('can be bundled by esbuild for browsers, without Node modules', async () => {
    const out = join(project, 'esbuild.mjs');
    await run(
      join(binDir, 'esbuild'),
      ['main.mjs', '--bundle', '--format=esm', '--platform=browser', `--outfile=${out}`],
      {
        cwd: project,
      },
    );
    expect(readFileSync(out, 'utf8')).not.toMatch(/from "node:|require\(/);
    expect(await say(process.execPath, out)).toEqual(told);
  });

  it('can be bundled by Vite', async () => {
    const build = { target: 'es2022', outDir: 'vite', lib: { entry: 'main.mjs', formats: ['es'], fileName: 'main' } };
    writeFileSync(join(project, 'vite.config.mjs'), `export default ${JSON.stringify({ logLevel: 'warn', build })};`);
    await run(join(binDir, 'vite'), ['build'], { cwd: project });
    const [out = ''] = readdirSync(join(project, 'vite'));
    expect(await say(process.execPath, join('vite', out))).toEqual(told);
  });
});
