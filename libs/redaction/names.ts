/** Names of fields, headers and parameters whose values are secrets, whatever separates their words. */
import { isJsonObject, isRawNumber } from '#libs/json';
import { labelName } from './label-words.ts';

/** Anywhere in a name, without what separates its words. */
const secretPart =
  /passw(?:or)?[dt](?!less)|passcode|passphrase|kennwort|kenncode|secret(?!ar)|token(?!i[sz])|apikey|authorization|credential|(?:private|signing|access|session|encryption|master|deploy|host|room|account|shared|storage|subscription|function|auth|license)key|signature|cookies?$|codeverifier|assertion$/;
const secretWhole = /^(?:auth|pin|pass|pwd|pw|zak|otp|totp|jwt|bearer|sig|hmac|sid|(?:php|j)?sess(?:ion)?id)$/;
/** What a last word makes of the words before it: `pin` in `meetingPin` and `pinCode`, not in `shopping`. */
const secretWords =
  /(?:^|-)(?:(?:pin|pwd|pw|otp|jwt|zak)|(?:db|user|smtp|mail|pg|redis|login|admin|root)-?pass|(?:pin|access|auth|verification|security|mfa|otp|totp|sms|backup|recovery|login|conference|host|moderator|participant|attendee|guest|dial-?in|entry|door|gate|unlock|invite|invitation|join|activation|reset|pairing|device|one-?time)-?codes?)$/;
/** A last word that says something about a secret. */
const plainWords =
  /-(?:types?|counts?|ur[li]|endpoint|at|on|expir(?:es|y|ation)|ttl|lifetime|alg|algorithm|version|policy|consent|hint|length|required|enabled|limit|budget|usage|used|format|method|location|name|status|state|scheme)$/;
const plural = /s$/;
/** Parameters of addresses and forms that carry secrets; elsewhere these names are plain. */
const secretParameter = /^(?:key|code|tk|ticket|ztk|tkn|mtid|hk)$/;
const plainValue = /^(?:true|false|null|undefined|none|yes|no)$/i;

const maxNameLength = 100;

/** The words of a name in lower case, joined by `-`. */
function wordsOf(name: string): string {
  return name
    .slice(0, maxNameLength)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .toLowerCase();
}

/** Most names are the same few again and again. */
const knownNames = new Map<string, boolean>();
const maxKnownNames = 2_000;

export function isSecretName(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const isSecret = namesSecret(name);
  if (name.length <= maxNameLength && knownNames.size < maxKnownNames) knownNames.set(name, isSecret);
  return isSecret;
}

function namesSecret(name: string): boolean {
  const words = wordsOf(name);
  if (plainWords.test(words)) return false;
  const bare = words.replaceAll('-', '');
  return secretPart.test(bare) || secretWhole.test(bare) || secretWords.test(words) || labelName.test(name.slice(0, maxNameLength).trim());
}

/** Whether a field holds a secret. A flag and what is empty are none, nor is a number of a plural, such as how many tokens were used. */
export function isSecretField(name: string, value: unknown): boolean {
  return isSecretName(name) && holdsSecret(value, plural.test(wordsOf(name)));
}

/** The same of what stands in a text; `isParameter`: in an address or a form. */
export function isSecretText(name: string, text: string, isParameter = false): boolean {
  if (text === '' || plainValue.test(text)) return false;
  return isParameter && secretParameter.test(name.toLowerCase()) ? true : isSecretField(name, text);
}

function holdsSecret(value: unknown, isCount: boolean): boolean {
  if (typeof value === 'string') return value !== '' && !(isCount && /^[0-9.]{1,12}$/.test(value));
  if (typeof value === 'number' || isRawNumber(value)) return !isCount;
  if (Array.isArray(value)) return value.some((item) => holdsSecret(item, isCount));
  return isJsonObject(value) && Object.values(value).some((item) => holdsSecret(item, isCount));
}
