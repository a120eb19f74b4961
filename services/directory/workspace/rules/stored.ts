/** What the database has of the things that a document names. */
import type { ListName } from './vocabulary.ts';

export interface StepRow {
  readonly id: number;
  readonly journey_id: number;
  readonly slug: string;
  readonly position: number;
  readonly is_archived: boolean;
}

export interface EdgeRow {
  readonly id: number;
  readonly key: string | null;
  readonly left_id: number;
  readonly right_id: number;
  readonly journey_id: number | null;
}

export type EdgeList = 'memberships' | 'relationships';

export interface Stored {
  /** Key → id for everything that the document names or refers to and that exists. Emails are in lower case. */
  readonly ids: Readonly<Record<ListName, Map<string, number>>>;
  /** Keys of people who were merged: they mean who stays, whose values are their own (I5). */
  readonly formerKeys: ReadonlySet<string>;
  /** Whom these keys mean now. */
  readonly mergedIds: ReadonlySet<number>;
  /** Steps of the journeys named or referred to, by journey id, in order. */
  readonly steps: Map<number, StepRow[]>;
  readonly edges: Readonly<Record<EdgeList, readonly EdgeRow[]>>;
}
