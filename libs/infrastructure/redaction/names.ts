/** Recognises names of fields, headers and parameters whose values are secrets, with any word separator. */
import { isJsonObject, isRawNumber } from '#libs/infrastructure/json';

/** Matches at any position in a name whose separators were removed. */
const secretPart =
  /passw(?:or)?[dt](?!less)|passcode|passphrase|kennwort|kenncode|secret(?!ar)|token(?!i[sz])|apikey|authorization|credential|(?:private|signing|access|session|encryption|master|deploy|host|room|account|shared|storage|subscription|function|auth|license)key|signature|cookies?$|codeverifier|assertion$/;
const secretWhole = /^(?:auth|pin|pass|pwd|pw|zak|otp|totp|jwt|bearer|sig|hmac|sid|(?:php|j)?sess(?:ion)?id)$/;
/** Matches the last words of a name: `pin` in `meetingPin` and `pinCode`, but not in `shopping`. */
const secretWords =
  /(?:^|-)(?:(?:pin|pwd|pw|otp|jwt|zak)|(?:db|user|smtp|mail|pg|redis|login|admin|root)-?pass|(?:pin|access|auth|verification|security|mfa|otp|totp|sms|backup|recovery|login|conference|host|moderator|participant|attendee|guest|dial-?in|entry|door|gate|unlock|invite|invitation|join|activation|reset|pairing|device|one-?time)-?codes?)$/;
/** Last words of names that only describe a secret, such as its type or expiry. */
const plainWords =
  /-(?:types?|counts?|ur[li]|endpoint|at|on|expir(?:es|y|ation)|ttl|lifetime|alg|algorithm|version|policy|consent|hint|length|required|enabled|limit|budget|usage|used|format|method|location|name|status|state|scheme)$/;
const plural = /s$/;
/** Parameter names in URLs and forms whose values are secrets. In other contexts these names are not secret. */
const secretParameter = /^(?:key|code|tk|ticket|ztk|tkn|mtid|hk)$/;
const plainValue = /^(?:true|false|null|undefined|none|yes|no)$/i;

const maxNameLength = 100;

/** Returns the words of a name in lower case, joined by `-`. */
function wordsOf(name: string): string {
  return name
    .slice(0, maxNameLength)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .toLowerCase();
}

/** Results by name, cached because the same few names occur repeatedly. */
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
  return (
    secretPart.test(bare) ||
    secretWhole.test(bare) ||
    secretWords.test(words) ||
    labelName.test(name.slice(0, maxNameLength).trim())
  );
}

/**
 * Returns whether a field contains a secret. Flags, empty values, and numbers with plural names (such as token counts)
 * are not secrets.
 */
export function isSecretField(name: string, value: unknown): boolean {
  return isSecretName(name) && holdsSecret(value, plural.test(wordsOf(name)));
}

/** Like `isSecretField`, for values in a text. `isParameter`: the value is a parameter of a URL or form. */
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

/** Labels of secrets in texts; in languages other than English, also of fields. */

/** These also match inside longer words, such as `Besprechungspasswort`. */
const passwordParts = [
  'password passwd passwort passcode passphrase kennwort kenncode zugangscode zugriffscode zugangsschlüssel sicherheitscode einwahlcode konferenzcode',
  'wachtwoord toegangscode beveiligingscode lösenord lösenkod adgangskode passord salasana jelszó',
  'пароль пинкод 密码 密碼 口令 访问码 存取碼 通行码 通行碼 验证码 驗證碼 密钥 密鑰 パスワード パスコード 暗証番号 アクセスコード 認証コード 確認コード 会議コード 秘密鍵 合言葉',
  '비밀번호 암호 패스코드 액세스코드 인증번호 סיסמה סיסמא รหัสผ่าน पासवर्ड',
];
/** These match whole words only. A space in them matches a space, `_`, `-` or nothing. */
const passwordWords = [
  'pin|pwd|pw|otp|pin code|pin number|pin nummer|pincode|pass code|pass phrase|host key|room key|geheimzahl|senha|palavra passe|wachtzin|hasło|haslo|heslo|şifre|şifresi|parola|parolă|parolası',
  'mot de passe|phrase secrète|contraseña|clave de acceso|clave secreta|código pin|code pin|codice pin|kod pin|pin kodu|kata sandi|mật khẩu|κωδικός πρόσβασης|κωδικός',
  "code d'accès|code accès|code secret|code de sécurité|code confidentiel|code de la réunion|código de acceso|código de seguridad|código secreto|código de acesso|código de segurança",
  "codice di accesso|codice d'accesso|codice segreto|codice di sicurezza|kod dostępu|kod bezpieczeństwa|tajny kod|kod przístupu|přístupový kód|giriş kodu|erişim kodu|geçiş kodu|güvenlik kodu",
  'пин|пин код|код доступа|секретный код|код безопасности|кодовое слово|пін|пін код|код доступу|секретний код|код безпеки|كلمة المرور|رمز المرور|액세스 코드|접근 코드|인증 코드',
];
/** Words that name the kind of a code or PIN, such as `access` in `access code`. */
const codeKinds =
  'access|security|verification|login|log in|one time|conference|host|moderator|participant|attendee|guest|dial in|entry|door|gate|recovery|backup|invite|invitation|auth|authentication|2fa|mfa';
/** Words for keys. More often than after words for passwords, the next word or short number belongs to a sentence. */
const keyParts =
  'secret|token|credential|(?:api|access|private|signing|client|secret|shared|account|encryption|master|auth|deploy)[ _-]?key|トークン|シークレット|令牌|токен';
const keyWords =
  "api schlüssel|geheimer schlüssel|clé secrète|clé d'api|clé api|clave api|chiave segreta|chiave api|chave secreta|chave api|geheime sleutel|klucz tajny|klucz api|секретный ключ|ключ доступа|api ключ";

/** Returns a pattern that matches composed and decomposed letters, with or without accents. */
function spell(label: string): string {
  return Array.from(label.normalize('NFC'), (sign) => {
    if (sign === ' ') return '[ \\u00a0_-]?';
    if (sign === "'") return "['’]";
    const [base = '', ...marks] = sign.normalize('NFD');
    const isAccent = marks.length > 0 && marks.every((mark) => /[\u0300-\u036f\u3099\u309a]/.test(mark));
    return isAccent ? `(?:${sign}|${base}${marks.map((mark) => `${mark}?`).join('')})` : sign;
  }).join('');
}
/** Sorted longest first, since the first alternative that matches is used. */
const oneOf = (labels: readonly string[]): string =>
  labels
    .toSorted((one, other) => other.length - one.length)
    .map(spell)
    .join('|');

const parts = oneOf(passwordParts.flatMap((line) => line.split(' ')));
const codes = codeKinds.split('|').flatMap((kind) => [`${kind} code`, `${kind} pin`]);
const words = oneOf([...passwordWords.flatMap((line) => line.split('|')), ...codes]);
const keys = oneOf(keyWords.split('|'));
const start = String.raw`(?<![\p{L}\p{N}_])`;

/** A label in a text; group 1 is set for passwords and codes, not for keys. */
export const label = new RegExp(
  `(${parts}|${start}(?:${words})|(?-i:(?<=[a-z])Pin))|(?:${keyParts}|${start}(?:${keys}))`,
  'giu',
);
/** Matches a label that is an entire field name. */
export const labelName = new RegExp(`(?:${parts})$|^(?:${words}|${keys})$`, 'iu');
