/** Compares needed permissions with those that the broker grants. */

/** Subjects that a user may publish and subscribe to; they may contain the wildcards `*` and `>`. */
export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

interface Rule {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Permissions as reported by the broker; an absent field means no restriction. */
export interface GrantedPermissions {
  readonly publish?: Rule;
  readonly subscribe?: Rule;
}

/** Subject on which the broker reports the permissions of the user. */
export const userInfoSubject = '$SYS.REQ.USER.INFO';

const maxNamed = 3;

/** Returns the permissions of `needed` that are not granted. */
export function findMissing(needed: Permissions, granted: GrantedPermissions): Permissions {
  const missing = (subjects: readonly string[], { allow = [], deny = [] }: Rule = {}): string[] =>
    subjects.filter(
      (subject) =>
        (allow.length > 0 && !allow.some((pattern) => covers(pattern, subject))) ||
        deny.some((pattern) => overlaps(pattern, subject)),
    );
  return { publish: missing(needed.publish, granted.publish), subscribe: missing(needed.subscribe, granted.subscribe) };
}

/** Describes missing permissions in a sentence for operators. Returns undefined when nothing is missing. */
export function describeMissing(user: string, { publish, subscribe }: Permissions): string | undefined {
  const parts = [
    ...(subscribe.length === 0 ? [] : [`subscribe to ${nameSome(subscribe)}`]),
    ...(publish.length === 0 ? [] : [`publish to ${nameSome(publish)}`]),
  ];
  if (parts.length === 0) return undefined;
  return `the NATS user ${user} may not ${parts.join(' and may not ')}: use files/nats.conf of this release`;
}

/** Returns the permissions for an installation with a subject prefix (NATS_SUBJECT_PREFIX). */
export function withPrefix({ publish, subscribe }: Permissions, prefix: string): Permissions {
  const change = (subject: string): string => (prefix === '' ? subject : prefixSubject(subject, prefix));
  return { publish: publish.map(change), subscribe: subscribe.map(change) };
}

function prefixSubject(subject: string, prefix: string): string {
  if (subject.startsWith('_INBOX.') || subject.startsWith('$SYS.')) return subject;
  if (subject.startsWith('$SRV.')) return subject.replace(/^(\$SRV\.[A-Z]+\.)(?=[a-z])/, `$1${prefix}_`);
  if (!subject.startsWith('$JS.')) return `${prefix}.${subject}`;
  return subject
    .replace(/\.([A-Z]+)(?=\.[a-z]|\.>|$)/, `.${prefix}_$1`)
    .replace(/(CONSUMER\.CREATE\.[^.]+\.[^.]+\.)/, `$1${prefix}.`);
}

function nameSome(subjects: readonly string[]): string {
  const named = subjects.slice(0, maxNamed).join(', ');
  return subjects.length <= maxNamed ? named : `${named} and ${subjects.length - maxNamed} more`;
}

/** Returns whether `pattern` matches every subject that `subject` matches. */
function covers(pattern: string, subject: string): boolean {
  const [wide, narrow] = [pattern.split('.'), subject.split('.')];
  for (const [index, token] of wide.entries()) {
    const other = narrow[index];
    if (other === undefined) return false;
    if (token === '>') return true;
    if (token === '*' ? other === '>' : token !== other) return false;
  }
  return wide.length === narrow.length;
}

/** Returns whether there is a subject that both patterns match. */
function overlaps(left: string, right: string): boolean {
  const [ones, others] = [left.split('.'), right.split('.')];
  for (let index = 0; ; index++) {
    const [one, other] = [ones[index], others[index]];
    if (one === undefined || other === undefined) return one === other;
    if (one === '>' || other === '>') return true;
    if (one !== other && one !== '*' && other !== '*') return false;
  }
}
