import { lineFormat, linePattern } from '#libs/text';
import type { TString } from 'typebox';
import { Type } from './type.ts';

/** A name, title or slug in a request: one line without control and invisible formatting characters, which are 422 (D74). */
export const singleLine = (options: Readonly<Record<string, unknown>> = {}): TString =>
  Type.String({ pattern: linePattern, format: lineFormat, ...options });
