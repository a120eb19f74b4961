/** Generates whole requests for an operation from its document: valid ones, and ones with a single fault. */
import fc from 'fast-check';
import { breaking, fitting, type Known, preferKnown } from './arbitraries.ts';
import type { DocumentedOperation, DocumentedParameter, Json } from './served-documents.ts';

export interface MadeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: FormData | string;
  /** Position of the fault, for messages; undefined for valid requests. */
  readonly broken?: string;
  /** Expected error status: 422, except for values checked by the operation itself. */
  readonly refusedWith?: number;
}

type Values = Readonly<Record<string, string | undefined>>;

/** Generates visible ASCII, as headers require. The length is between the minimum and 19 characters more. */
function headerText({ minLength, maxLength }: Json): fc.Arbitrary<string> {
  const shortest = Number(minLength ?? 1);
  return fc.stringMatching(
    new RegExp(`^[!-~]{${shortest},${Math.min(shortest + 19, Number(maxLength ?? Infinity))}}$`),
  );
}
const slugText = fc.stringMatching(/^[a-z][a-z0-9-]{0,15}$/);
const nullCharacter = '\0';

/** Generates requests that match the document. */
export function fittingRequest(operation: DocumentedOperation, known: Known): fc.Arbitrary<MadeRequest> {
  return fittingRequestParts(operation, known).map(([chosen, body]) => assemble(operation, chosen, body));
}

/** Generates requests with one invalid parameter or body position; undefined when nothing can be invalid. */
export function breakingRequest(operation: DocumentedOperation, known: Known): fc.Arbitrary<MadeRequest> | undefined {
  const { parameters, components } = operation;
  const schema = operation.requestBody?.content['application/json']?.schema;
  const raw = operation.responses['422'] === undefined;
  const byParameter = parameters.flatMap((parameter) => {
    const wrong = listWrongTexts(parameter);
    if (wrong.length === 0) return [];
    const made = fc
      .tuple(fittingRequestParts(operation, known), fc.constantFrom(...wrong))
      .map(([[values, body], value]) => ({
        ...assemble(operation, { ...values, [parameter.name]: value }, body),
        broken: `${parameter.in} ${parameter.name}`,
        refusedWith: value === noChoice ? readRefusal(parameter.schema) : 422,
      }));
    return [made];
  });
  const byBody =
    schema === undefined
      ? []
      : [
          fc.tuple(fittingRequestParts(operation, known), breaking(schema, components)).map(([[values], json]) => ({
            ...assemble(operation, values, { json }),
            broken: 'body',
            refusedWith: 422,
          })),
        ];
  const all = [...byParameter, ...byBody];
  return raw || all.length === 0 ? undefined : fc.oneof(...all);
}

function fittingRequestParts(operation: DocumentedOperation, known: Known): fc.Arbitrary<[Values, Body]> {
  const { parameters, components } = operation;
  const values = fc.record(
    Object.fromEntries(parameters.map((parameter) => [parameter.name, fittingParameter(parameter, known, components)])),
  );
  return fc.tuple(values, fittingBody(operation, known));
}

type Body = Pick<MadeRequest, 'json' | 'body'>;

function fittingBody({ requestBody, components }: DocumentedOperation, known: Known): fc.Arbitrary<Body> {
  if (requestBody === undefined) return fc.constant({});
  const [contentType, content] = Object.entries(requestBody.content)[0] ?? [];
  if (contentType === 'multipart/form-data') return fittingUpload(content?.schema ?? {});
  return fitting(content?.schema ?? {}, components, known).map((json) => ({ json }));
}

/** A PNG of one pixel. */
const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function fittingUpload({ properties }: Json): fc.Arbitrary<Body> {
  const part = Object.keys(properties ?? {})[0] ?? 'file';
  const content = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.constant(Buffer.from(picture, 'base64')));
  return fc.tuple(content, slugText, fc.constantFrom('mp3', 'WAV', 'exe', 'png')).map(([bytes, name, extension]) => {
    const form = new FormData();
    form.append(part, new Blob([new Uint8Array(bytes)]), `${name}.${extension}`);
    return { body: form };
  });
}

function fittingParameter(
  parameter: DocumentedParameter,
  known: Known,
  components: Json,
): fc.Arbitrary<string | undefined> {
  const { name, schema, required } = parameter;
  const made =
    parameter.in === 'header' && !isConstrained(schema) ? headerText(schema) : fittingText(parameter, components);
  const value = preferKnown(known[name]?.map(String), schema, made);
  return required ? value : fc.option(value, { nil: undefined });
}

const isConstrained = ({ type, format, enum: choices }: Json): boolean =>
  type !== 'string' || format !== undefined || choices !== undefined;

function fittingText({ in: place, schema }: DocumentedParameter, components: Json): fc.Arbitrary<string> {
  const text = fitting(schema, components)
    .filter((value) => value !== null)
    .map((value) =>
      Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value),
    );
  if (place !== 'path') return text;
  // A URL cannot have an empty segment, and the segments `.` and `..` are normalized away.
  return schema['type'] === 'string'
    ? fc.oneof(
        slugText,
        text.filter((value) => value.trim() !== '' && !/^\.{1,2}$/.test(value)),
      )
    : text;
}

/** A value that no enumeration contains. */
const noChoice = 'neither-this-nor-that';

const readRefusal = ({ items, ...own }: Json): number =>
  Number(own['x-refused-with'] ?? (items as Json | undefined)?.['x-refused-with'] ?? 422);

/** Returns texts that violate the parameter's schema; undefined means that the parameter is omitted. */
function listWrongTexts({ in: place, schema, required }: DocumentedParameter): (string | undefined)[] {
  const { type, minimum, maximum, minLength, maxLength } = schema;
  const wrong: (string | undefined)[] = [];
  if (type === 'integer' || type === 'number') wrong.push('abc', '1.5e', '0x10', '--1');
  if (type === 'boolean') wrong.push('perhaps');
  if (type === 'array') wrong.push(`1,abc${nullCharacter}`);
  if (schema['enum'] !== undefined || schema['format'] !== undefined || readRefusal(schema) !== 422)
    wrong.push(noChoice);
  if (place === 'query' && typeof maximum === 'number' && maximum < 1e9) wrong.push(String(maximum + 1));
  if (place === 'query' && typeof minimum === 'number' && minimum > -1e9) wrong.push(String(minimum - 1));
  if (typeof minLength === 'number' && minLength > 1 && place !== 'path') wrong.push('x'.repeat(minLength - 1));
  if (typeof maxLength === 'number' && place !== 'path') wrong.push('x'.repeat(maxLength + 1));
  // A header cannot contain U+0000. A slug in the path may contain U+0000; such a slug does not exist.
  if (place === 'query' || (place === 'path' && type !== 'string')) wrong.push(`a${nullCharacter}b`);
  if (required && place !== 'path') wrong.push(undefined);
  return wrong;
}

function assemble({ path, parameters }: DocumentedOperation, values: Values, body: Body): MadeRequest {
  const given = (place: string): [string, string][] =>
    parameters.flatMap(({ in: own, name }) =>
      own === place && values[name] !== undefined ? [[name, values[name]]] : [],
    );
  const inPath = new Map(given('path'));
  const filled = path.replace(/\{([^}]+)\}/g, (_all, name: string) => encodeURIComponent(inPath.get(name) ?? 'x'));
  const query = new URLSearchParams(given('query')).toString();
  return { path: query === '' ? filled : `${filled}?${query}`, headers: Object.fromEntries(given('header')), ...body };
}
