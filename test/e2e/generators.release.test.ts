/**
 * Generates clients from the OpenAPI documents with the generators that others use, and compiles them. The rules of the
 * documents are in services/api-gateway/models.test.ts, which is the smoke form.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';

const run = promisify(execFile);
const goGenerator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const goRuntime = 'github.com/oapi-codegen/runtime@v1.9.0';
const pythonGenerators = ['openapi-python-client==0.29.1', 'openapi-generator-cli==7.26.0', 'ruff==0.17.6'];
const names = ['api', 'v1', 'ops'] as const;

let folder: string;
const fileOf = (name: string): string => join(folder, `${name}.json`);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'generators-'));
  const documents = buildDocuments(routes);
  for (const name of names) writeFileSync(fileOf(name), JSON.stringify(documents[name]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('code of generators', () => {
  it('compiles in Go (oapi-codegen)', async () => {
    const dir = join(folder, 'go');
    mkdirSync(dir);
    const options = { cwd: dir, env: { ...process.env, GOBIN: join(dir, 'bin'), GOFLAGS: '-mod=mod' } };
    await run('go', ['install', goGenerator], options);
    await run('go', ['mod', 'init', 'example.org/clients'], options);
    await run('go', ['get', goRuntime], options);
    for (const name of names) {
      mkdirSync(join(dir, name));
      const args = ['-generate', 'types,client', '-package', name, '-o', join(dir, name, 'client.go'), fileOf(name)];
      await run(join(dir, 'bin', 'oapi-codegen'), args, options);
    }
    const { stdout, stderr } = await run('go', ['build', './...'], options);
    expect(stdout + stderr).not.toContain('#');
  });

  it('compiles in Python and Java (openapi-python-client, openapi-generator)', async () => {
    const bin = join(folder, 'venv', 'bin');
    await run('python3', ['-m', 'venv', join(folder, 'venv')]);
    await run(join(bin, 'pip'), ['install', '-q', ...pythonGenerators]);
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    for (const name of names) {
      const python = join(folder, `python-${name}`);
      const args = ['generate', '--path', fileOf(name), '--meta', 'none', '--output-path', python];
      const { stdout } = await run('openapi-python-client', args, { env });
      expect(stdout).not.toMatch(/warning/i);
      await run('python3', ['-m', 'compileall', '-q', python]);
      const java = join(folder, `java-${name}`);
      await run(
        'openapi-generator-cli',
        ['generate', '-i', fileOf(name), '-g', 'java', '--library', 'native', '-o', java],
        {
          env,
          maxBuffer: 64 * 1_048_576,
        },
      );
      await run('mvn', ['-q', '-B', 'compile'], { cwd: java, env });
    }
  }, 900_000);
});
