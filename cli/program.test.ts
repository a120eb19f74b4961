import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Command, Option } from 'commander';
import { createContext } from './context.ts';
import { createProgram } from './program.ts';

interface Leaf {
  /** Names of the command, e.g. `jobs list`. */
  readonly path: string;
  readonly command: Command;
  readonly options: readonly Option[];
}

/** Returns the commands that --help lists, with the options that it lists. */
function listLeaves(command: Command, path: readonly string[] = []): Leaf[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((item) => item.name() !== 'help');
  if (commands.length > 0) return commands.flatMap((item) => listLeaves(item, [...path, item.name()]));
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help' && long !== '--version');
  return [{ path: path.join(' '), command, options }];
}

let program: Command;
let leaves: Leaf[];
beforeAll(async () => {
  program = await createProgram('all', { json: false, openContext: () => createContext({ json: false }) });
  leaves = listLeaves(program);
});

const has = ({ options }: Leaf, long: string): boolean => options.some((option) => option.long === long);
const pathsWith = (long: string): string[] => leaves.filter((leaf) => has(leaf, long)).map(({ path }) => path);

describe('createProgram', () => {
  it('loads only the requested command group, and lists the other groups by name and description', async () => {
    const load = async (args: readonly string[] | 'all') =>
      (await createProgram(args, { json: false, openContext: () => createContext({ json: false }) })).commands;
    const sizeOf = (command: Awaited<ReturnType<typeof load>>[number]): number =>
      command.commands.length + command.options.length + command.registeredArguments.length;
    const all = program.commands;
    expect(all.filter((command) => sizeOf(command) === 0)).toEqual([]);
    for (const words of [[], ['--help'], ['frobnicate'], ['constructor']]) {
      const none = await load(words);
      expect(none.map((command) => [command.name(), command.description(), sizeOf(command)])).toEqual(
        all.map((command) => [command.name(), command.description(), 0]),
      );
    }
    for (const group of all) {
      for (const words of [[group.name()], ['help', group.name()]]) {
        const loaded = (await load(words)).filter((command) => sizeOf(command) > 0);
        expect(loaded.map((command) => [command.name(), sizeOf(command)])).toEqual([[group.name(), sizeOf(group)]]);
      }
    }
  });

  it('does not connect to the platform for help, the version and usage errors', async () => {
    const openContext = (): never => {
      throw new Error('is not needed');
    };
    for (const words of [['--help'], ['--version'], ['frobnicate']]) {
      expect((await createProgram(words, { json: false, openContext })).name()).toBe('coherence');
    }
  });
});

describe('the commands of the CLI (rules/cli#options)', () => {
  it('have one verb for each action', () => {
    const otherVerbs = {
      create: ['add', 'new', 'make'],
      delete: ['remove', 'rm', 'destroy'],
      list: ['ls', 'find', 'all'],
      show: ['get', 'view', 'describe', 'info'],
      update: ['edit', 'change', 'modify', 'set'],
    };
    const used = leaves.map(({ path }) => path.split(' ').at(-1) ?? '');
    expect(used.filter((verb) => Object.values(otherVerbs).flat().includes(verb))).toEqual([]);
    expect(leaves.map(({ path }) => path).filter((path) => path.endsWith(' search'))).toEqual(['transcripts search']); // by relevance
  });

  it('have one set of option names for each kind of value', () => {
    const names: Record<string, readonly string[]> = {
      count: ['--connections', '--limit', '--lines'],
      cursor: ['--cursor'],
      file: ['--from', '--identity-file', '--out'],
      place: ['--location'],
      time: ['--expires-at', '--finish', '--since', '--start', '--until'],
      day: ['--follow-up', '--since'],
      type: ['--type'],
    };
    const used: Record<string, Set<string>> = {};
    for (const { options } of leaves)
      for (const { flags, long } of options) {
        const [, value = ''] = /[<[](\w+)(?:\.\.\.)?[>\]]/.exec(flags) ?? [];
        if (value in names) (used[value] ??= new Set()).add(long ?? '');
      }
    const sorted = Object.entries(used).map(([value, longs]) => [value, [...longs].toSorted()]);
    expect(Object.fromEntries(sorted)).toEqual(names);
  });

  it('have no second name for a common option', () => {
    const otherNames = {
      '--cursor': ['--after', '--before', '--next', '--offset', '--page'],
      '--from': ['--file', '--input'],
      '--limit': ['--count', '--max', '--page-size', '--size'],
      '--out': ['--output', '--target-file'],
      '--q': ['--filter', '--query', '--search', '--text'],
      '--since': ['--created-after'],
      '--until': ['--created-before', '--to'],
      '--yes': ['--confirm', '--force'],
    };
    expect(Object.values(otherNames).flat().flatMap(pathsWith)).toEqual([]);
  });

  it('page lists with --limit and --cursor', () => {
    /** Lists that are always complete, and limits of other things than pages. */
    const complete = [
      'accounts identities',
      'agents knowledge list',
      'backup list',
      'classes list',
      'people duplicates',
      'profiles list',
    ];
    const unpaged = ['agents usage', 'journeys audit', 'webhooks replay'];
    const lists = leaves.filter(({ path }) =>
      /(?:^| )(?:list|search|deleted|deliveries|history|identities|duplicates)$/.test(path),
    );
    const found = lists.filter((leaf) => !has(leaf, '--cursor')).map(({ path }) => path);
    expect(found.toSorted()).toEqual(complete);
    const limited = leaves.filter((leaf) => has(leaf, '--limit') !== has(leaf, '--cursor'));
    expect(limited.map(({ path }) => path).toSorted()).toEqual(unpaged);
  });

  it('describe an option that several commands have in the same words', () => {
    const texts = new Map<string, Set<string>>();
    for (const { path, options } of leaves)
      for (const { long, description } of options)
        if (['--cursor', '--profile', '--utc', '--yes'].includes(long ?? '') && path !== 'events tail')
          texts.set(long ?? '', (texts.get(long ?? '') ?? new Set()).add(description));
    expect(Object.fromEntries([...texts].map(([long, { size }]) => [long, size]))).toEqual({
      '--cursor': 1,
      '--profile': 1,
      '--utc': 1,
      '--yes': 1,
    });
  });

  it('need --yes outside a terminal when they are irreversible, as docs/rules/cli.md lists them', () => {
    const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'rules', 'cli.md'), 'utf8');
    const [, list = ''] = /change nothing: ([^]*?)\. Dry runs/.exec(page) ?? [];
    const documented = [...list.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replace(/ --delete$/, ''));
    const asking = listLeaves(program).filter((leaf) => has(leaf, '--yes'));
    expect(documented).toEqual(asking.map(({ path }) => path).toSorted());
    const irreversible = /(?:^| )(?:delete|erase|forget|merge|prune|reject|reset-password|restore|revoke)$/;
    /** `conversations restore` undoes `conversations delete`; a profile is a login. */
    const harmless = ['conversations delete', 'conversations restore', 'profiles delete'];
    const named = leaves.map(({ path }) => path).filter((path) => irreversible.test(path) && !harmless.includes(path));
    expect(named.filter((path) => !documented.includes(path))).toEqual([]);
  });

  it('accept names of earlier releases, which have the meaning of the current ones', () => {
    const parse = (path: string, ...words: string[]): Record<string, unknown> => {
      const leaf = leaves.find((item) => item.path === path);
      leaf?.command.parseOptions(words);
      return leaf?.command.opts() ?? {};
    };
    expect(parse('audit list', '--from', '2026-05-01', '--to', '2026-05-02')).toMatchObject({
      since: '2026-05-01T00:00:00.000Z',
      until: '2026-05-02T00:00:00.000Z',
    });
    expect(parse('events tail', '--types', 'person.*,job.dead', '--after', 'x', '--count', '3')).toMatchObject({
      type: ['person.*', 'job.dead'],
      cursor: 'x',
      limit: 3,
    });
    expect(parse('endpoints list', '--offset', '20')).toMatchObject({ cursor: 20 });
    expect(parse('backup list', '--from', '/backups')).toEqual({ location: '/backups' });
    expect(parse('threads show', '--before', '7')).toMatchObject({ cursor: 7 });
  });
});
