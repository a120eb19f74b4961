import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { appError, notFound } from '#libs/infrastructure/errors';
import { CliError, exitCodes, isBareNotFound, toFailure } from './failure.ts';

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('toFailure', () => {
  it('outputs code, reason and details of a service error for programs', () => {
    const { exitCode, body, text } = toFailure(
      appError('conflict', 'person_ambiguous', 'Several people.', { person_ids: [1, 2] }),
    );
    expect([exitCode, text]).toEqual([1, 'Several people. (person_ambiguous)']);
    expect(body).toEqual({
      code: 'conflict',
      reason: 'person_ambiguous',
      message: 'Several people.',
      details: { person_ids: [1, 2] },
    });
  });

  it('prints an expected error without a stack, and an unexpected one with a stack', () => {
    const refused = toFailure(thrownBy(() => readFileSync('/no/such/file')));
    expect([refused.body.code, refused.text]).toEqual([
      'failed',
      "ENOENT: no such file or directory, open '/no/such/file'",
    ]);
    const fault = toFailure(new Error('A fault'));
    expect([fault.body, fault.text.split('\n').length > 1]).toEqual([{ code: 'internal', message: 'A fault' }, true]);
  });

  it('exits with 2 after an invalid command line and with 130 after an interrupt', () => {
    expect([
      toFailure(new CliError('x', 'usage')).exitCode,
      toFailure(new CliError('x', 'interrupted')).exitCode,
    ]).toEqual([2, 130]);
  });
});

describe('exit codes (rules/cli#exit-codes)', () => {
  it('are the codes of the table in docs/rules/cli.md', () => {
    const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'rules', 'cli.md'), 'utf8');
    const table = /## Exit codes\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
    const documented = [...table.matchAll(/^\| (\d+) \| (.*) \|$/gm)].flatMap(([, code, text = '']) =>
      [...text.split(':', 1)[0]!.matchAll(/`([a-z_]+)`/g)].map(([, reason]) => [reason, Number(code)]),
    );
    expect(Object.fromEntries(documented)).toEqual(exitCodes);
  });
});

describe('isBareNotFound', () => {
  it('returns true only for a 404 error that does not name the missing object', () => {
    expect(isBareNotFound(notFound())).toBe(true);
    expect(isBareNotFound(notFound('Holon x does not exist.'))).toBe(false);
    expect(isBareNotFound(appError('not_found', 'agent_not_found', 'Not Found'))).toBe(false);
  });
});
