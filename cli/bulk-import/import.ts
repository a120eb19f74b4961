/**
 * Bulk import of `conversations:` (rules/workspace#bulk-import). The first pass validates items, references and files;
 * the second sends them in batches. Both read item by item, so that memory does not grow with the list. A batch is a
 * transaction and items are identified by key: running the command again completes an interrupted import.
 */
import { conversations, maxImportItems, type ImportItem, type ImportedItem } from '#services/conversations';
import type { CliContext } from '../context.ts';
import type { FileProblem } from '../workspace-file.ts';
import { checkItem, type CheckedItem, type ItemProblem } from './check-item.ts';
import type { ListedItem } from './conversation-list.ts';
import { FileImport, namesFiles } from './files.ts';
import { Progress } from './progress.ts';
import { References, type ResolvedReferences } from './references.ts';
import { TranscriptImport } from './transcripts.ts';

export interface ImportCounts {
  created: number;
  updated: number;
  unchanged: number;
  /** Key → id of each conversation; a dry run contains only existing conversations. */
  readonly ids: Record<string, number>;
  readonly diff: { list: string; key: string; action: 'create' | 'update'; fields: ImportedItem['fields'] }[];
  diffTruncated: boolean;
}

/** A problem with its line in the file. */
export interface LinedProblem extends FileProblem {
  readonly line: number;
}

interface BatchItem {
  readonly listed: ListedItem;
  readonly item: CheckedItem;
  readonly characters: number;
}

const listName = 'conversations';
const itemsPerBatch = Math.min(500, maxImportItems);
const charactersPerBatch = 1_500_000;
/** A request has at most 4 MiB of JSON (architecture#large-messages). */
const maxItemCharacters = 3_500_000;
const maxProblems = 5_000;
const maxDiff = 1_000;

export class ConversationImport {
  readonly #context: CliContext;
  readonly #open: () => AsyncIterable<ListedItem>;
  readonly #references: References;
  readonly #files: FileImport;
  readonly #transcripts: TranscriptImport;
  #total = 0;

  /** @param document the file without its conversations, which can refer to it */
  constructor(context: CliContext, workspaceFile: string, document: unknown, open: () => AsyncIterable<ListedItem>) {
    this.#context = context;
    this.#open = open;
    this.#references = new References(context, document);
    this.#files = new FileImport(context, workspaceFile);
    this.#transcripts = new TranscriptImport(context);
  }

  /** Validates the list without changing anything. */
  async check(): Promise<LinedProblem[]> {
    const found: LinedProblem[] = [];
    const firsts = new Map<string, number>();
    const progress = new Progress('checked');
    const add = ({ index, lineOf }: ListedItem, problems: readonly ItemProblem[]): void => {
      for (const { path, message } of problems) {
        if (found.length < maxProblems) found.push({ path: [listName, index, ...path], message, line: lineOf(path) });
      }
    };
    let needsMedia = false;
    const checkBatch = async (batch: readonly BatchItem[]): Promise<void> => {
      await this.#references.load(batch.map(({ item }) => item));
      for (const { listed, item } of batch) {
        const problems: ItemProblem[] = [];
        this.#references.resolve(item, problems);
        this.#files.check(item, problems);
        add(listed, problems);
        needsMedia ||= namesFiles(item);
      }
      progress.report(this.#total);
    };
    this.#total = 0;
    for await (const batch of this.#batches((listed, problems) => add(listed, problems))) {
      for (const { listed, item } of batch) {
        this.#total++;
        const first = firsts.get(item.key);
        if (first === undefined) firsts.set(item.key, listed.index);
        else add(listed, [{ path: ['key'], message: `repeats ${listName}[${first}]` }]);
      }
      await checkBatch(batch);
    }
    if (needsMedia) await this.#files.checkService();
    return found;
  }

  /** Applies the list; a dry run only compares it with the database. `check` must have found no problems. */
  async apply(dryRun: boolean): Promise<ImportCounts> {
    const counts: ImportCounts = { created: 0, updated: 0, unchanged: 0, ids: {}, diff: [], diffTruncated: false };
    const progress = new Progress(dryRun ? 'compared' : 'applied', this.#total);
    let done = 0;
    this.#references.refresh();
    for await (const batch of this.#batches(() => undefined)) {
      await this.#references.load(batch.map(({ item }) => item));
      await this.#applyBatch(batch, dryRun, counts);
      done += batch.length;
      progress.report(done);
    }
    return counts;
  }

  async #applyBatch(batch: readonly BatchItem[], dryRun: boolean, counts: ImportCounts): Promise<void> {
    const resolved = batch.map(({ item }) => this.#references.resolve(item, []));
    const items = batch.map(({ item }, index) => toImportItem(item, resolved[index] as ResolvedReferences));
    const reply = await this.#context.call(conversations.rpcs.importConversations, { items, dry_run: dryRun });
    const present = reply.items.flatMap(({ id }, index) => {
      const { item } = batch[index] as BatchItem;
      return id === null ? [] : [{ id, item, speakerIds: (resolved[index] as ResolvedReferences).speakerIds }];
    });
    const withRows = await this.#transcripts.apply(present, dryRun);
    const withFiles = await this.#files.apply(present, dryRun);
    for (const { key, id, action, fields } of reply.items) {
      if (id !== null) counts.ids[key] = id;
      const more =
        id === null ? [] : [...(withRows.has(id) ? ['transcript'] : []), ...(withFiles.has(id) ? ['files'] : [])];
      const final = action === 'unchanged' && more.length > 0 ? 'update' : action;
      counts[final === 'create' ? 'created' : final === 'update' ? 'updated' : 'unchanged']++;
      if (!dryRun || final === 'unchanged') continue;
      const all = final === 'create' ? [] : [...fields, ...more.map((field) => ({ field, old: null, new: null }))];
      if (counts.diff.length < maxDiff) counts.diff.push({ list: listName, key, action: final, fields: all });
      else counts.diffTruncated = true;
    }
  }

  /** Yields valid items in batches; passes invalid ones to `refuse`. */
  async *#batches(refuse: (listed: ListedItem, problems: readonly ItemProblem[]) => void): AsyncGenerator<BatchItem[]> {
    let batch: BatchItem[] = [];
    let size = 0;
    for await (const listed of this.#open()) {
      const problems: ItemProblem[] = [];
      const item = checkItem(listed.value, problems);
      const characters = JSON.stringify(listed.value).length;
      if (item !== undefined && characters > maxItemCharacters)
        problems.push({ path: [], message: 'is too large: over 3.5 million characters' });
      if (item === undefined || problems.length > 0) {
        refuse(listed, problems);
        continue;
      }
      if (batch.length > 0 && (batch.length >= itemsPerBatch || size + characters > charactersPerBatch)) {
        yield batch;
        batch = [];
        size = 0;
      }
      batch.push({ listed, item, characters });
      size += characters;
    }
    if (batch.length > 0) yield batch;
  }
}

function toImportItem(item: CheckedItem, { ids }: ResolvedReferences): ImportItem {
  const { key, start, finish, infos, config, room } = item;
  return {
    key,
    ...ids,
    ...(start === undefined ? {} : { start }),
    ...(finish === undefined ? {} : { finish }),
    ...(infos === undefined ? {} : { infos }),
    ...(config === undefined ? {} : { config }),
    ...(room === undefined ? {} : { room }),
  };
}
