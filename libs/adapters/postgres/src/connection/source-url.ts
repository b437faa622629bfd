const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

export type SourceUrl = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Null: the URL says nothing about TLS. */
  readonly sslMode: SslMode | null;
};

const DEFAULT_PORT = 5432;
const EXAMPLE = 'postgres://user:password@host:5432/database';

/** Returns the parts of a URL, or a sentence about what is wrong with it. The sentence quotes nothing of the URL. */
export function readSourceUrl(text: string): SourceUrl | string {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) return `The URL has not the form ${EXAMPLE}.`;
  const user = decode(url.username);
  const database = decode(url.pathname.slice(1)) || user;
  if (url.hostname === '') return `The URL names no host. Its form is ${EXAMPLE}.`;
  if (user === '') return `The URL names no user. Its form is ${EXAMPLE}.`;
  if (/\0/.test(user + database)) return `The URL has not the form ${EXAMPLE}.`;
  const mode = url.searchParams.get('sslmode');
  if (mode !== null && !isSslMode(mode)) return `The URL has an unknown sslmode. Use one of ${SSL_MODES.join(', ')}.`;
  return {
    host: decode(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    user,
    password: decode(url.password),
    database,
    sslMode: mode,
  };
}

const isSslMode = (text: string): text is SslMode => SSL_MODES.some((mode) => mode === text);

/** A percent sign that begins no escape stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
