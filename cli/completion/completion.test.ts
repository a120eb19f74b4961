import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeBash } from './bash.ts';
import { writeFish } from './fish.ts';
import commands from './commands.json' with { type: 'json' };
import type { Node } from './tree.ts';
import { writeZsh } from './zsh.ts';

const nodes: readonly Node[] = commands;
let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'completion-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Typed command line → words that completion must offer, and words that it must not offer. */
const cases: readonly [typed: string, offered: readonly string[], not: readonly string[]][] = [
  ['', ['accounts', 'jobs', 'doctor', 'completion'], ['list', 'help', '--version']],
  ['jo', ['journeys', 'jobs'], ['accounts']],
  ['jobs ', ['list', 'redrive'], ['jobs', '--help']],
  ['jobs list --st', ['--state'], ['--limit']],
  ['jobs list --state dead --l', ['--limit'], []],
  ['jobs list --state ', ['dead', 'queued'], ['--limit']],
  ['agents knowledge ', ['approve'], ['record']],
  ['completion ', ['bash', 'zsh', 'fish'], ['--json']],
];

function write(name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, script);
  return file;
}

describe('completion bash|zsh|fish', () => {
  it('completes commands, options and their values in Bash', () => {
    const file = write('completion.bash', writeBash('coherence', nodes));
    const ask = `source ${file}
      for line in "$@"; do
        read -ra COMP_WORDS <<<"coherence $line"
        [[ -z $line || $line == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
        _coherence && echo "\${COMPREPLY[*]}"
      done`;
    const answers = execFileSync('bash', ['-c', ask, 'bash', ...cases.map(([typed]) => typed)], {
      encoding: 'utf8',
    }).split('\n');
    for (const [index, [typed, offered, not]] of cases.entries()) {
      const words = answers[index]?.split(' ') ?? [];
      expect({ typed, words }).toEqual({ typed, words: expect.arrayContaining([...offered]) });
      expect(words.filter((word) => not.includes(word))).toEqual([]);
    }
  });

  it('lets Bash complete file names when the CLI has no completion for an argument', () => {
    const file = write('files.bash', writeBash('coherence', nodes));
    const ask = `source ${file}; COMP_WORDS=(coherence workspace apply ./de); COMP_CWORD=3; _coherence; echo "<\${COMPREPLY[*]}>"; complete -p coherence`;
    expect(execFileSync('bash', ['-c', ask], { encoding: 'utf8' })).toBe(
      '<>\ncomplete -o default -F _coherence coherence\n',
    );
  });

  it('passes each command with its description to Zsh', () => {
    const script = writeZsh('coherence', nodes);
    expect(script).toMatch(/^#compdef coherence\n/);
    expect(script).toMatch(/^ {4}\(' jobs'\) found=\('list:Lists jobs, newest first' /m);
    expect(script).toMatch(/^ {4}\(' jobs list --service'\) compadd -- 'agents' /m);
    expect(script).toContain(String.raw`'jobs:Jobs of all services\: queued`);
    expect(isRefusedBy('zsh', write('_coherence', script))).toBe(false);
  });

  it('passes each command, option and value with its description to fish', () => {
    const script = writeFish('coherence', nodes);
    expect(script).toContain(
      String.raw`complete -c coherence -n '__coherence_at \' jobs\'' -a list -d 'Lists jobs, newest first'`,
    );
    expect(script).toMatch(/'__coherence_at \\' jobs list\\'' -l state -x -a 'queued running [a-z ]+' -d 'only/);
    expect(script).toMatch(/'__coherence_at \\' workspace apply\\'' -F$/m);
    expect(isRefusedBy('fish', write('coherence.fish', script))).toBe(false);
  });
});

/** Returns true when a shell reports a syntax error in the file; returns false when the shell is not installed. */
function isRefusedBy(shell: string, file: string): boolean {
  const { error, status } = spawnSync(shell, ['-n', file]);
  return error === undefined && status !== 0;
}
