import type { Tx } from '#libs/orm';
import { insertFile, type NewFile, retireFiles } from './file-statements.ts';

export interface ReplacedFile {
  readonly id: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Of the files that it replaces. */
  readonly retiredIds: readonly number[];
}

/** Makes a stored object the file of its kind; under `lockConversation`, so that ids rise in the order of commits. */
export async function replaceFile(tx: Tx, file: NewFile): Promise<ReplacedFile> {
  const retired = await retireFiles(tx, { conversationId: file.conversationId, kind: file.kind });
  const { id, created_at: createdAt } = await insertFile(tx, file);
  return { id, createdAt, retiredIds: retired.map((row) => row.id) };
}
