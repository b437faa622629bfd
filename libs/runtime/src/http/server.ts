import { createServer, type RequestListener, type Server } from 'node:http';
import { isIPv6, type AddressInfo, type Socket } from 'node:net';
import { problemOf } from '@carillon/contracts';
import { CarillonError, ERRORS, type Duration, type ErrorCode } from '@carillon/kernel';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { watchRoutes } from './allowed-methods.ts';
import { createConnections, type Connections, type CutReason } from './connections.ts';
import { refuseLateRequests } from './handler-deadline.ts';
import { HEALTH_PATHS, serveHealth, type HealthSources } from './health.ts';
import { HTTP_LIMITS, type HttpLimits } from './http-limits.ts';
import { SILENT_LOG, type HttpLog } from './http-log.ts';
import { refuseMalformed } from './malformed-requests.ts';
import { HSTS, isOverTls } from './over-tls.ts';
import { findPortHolder } from './port-holder.ts';
import { createRefusalLog, type RefusalLog } from './refusal-log.ts';
import { hasOneHost, requestFault } from './request-faults.ts';
import { discardUnreadBody } from './unread-body.ts';

/** A request with its response, as input of counters and histograms. */
export type AnsweredRequest = {
  /** The route's pattern, never the address itself: it may hold ids and query strings. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  /** Code of the problem that was answered; null: none. */
  readonly problem: ErrorCode | null;
  readonly span: Duration;
};

export type HttpServerOptions = HealthSources & {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** How a person chooses another port: `--gateway-port or CARILLON_GATEWAY_PORT`. */
  readonly portSetting: string;
  readonly newRequestId: () => string;
  readonly limits?: Partial<HttpLimits>;
  /** Set on every answer, to what is no HTTP request as well. Routes may give them other values. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True for a public port: health then returns only its status. */
  readonly bareHealth?: boolean;
  /**
   * Addresses and ranges of proxies. For a request from one of them, `request.ip` is the last address in `X-Forwarded-For`
   * that is not in this list, and `X-Forwarded-Proto` says whether the client used TLS. Both headers are ignored for any
   * other request. Defaults to none.
   */
  readonly trustedProxies?: readonly string[];
  readonly log?: HttpLog;
  readonly answered?: (request: AnsweredRequest) => void;
  /** A connection was cut to keep the server open for others. */
  readonly cut?: (reason: CutReason) => void;
};

export type Listening = {
  /** `http://127.0.0.1:7400`. */
  readonly address: string;
  readonly port: number;
};

/** A server whose every answer but success is a problem, and which is never without bounds. Routes go on `app` first. */
export type HttpServer = {
  readonly app: FastifyInstance;
  /** Rejects with `port_in_use`, naming the process that holds the port. */
  listen(): Promise<Listening>;
  /**
   * New requests are answered `stopping` from now on; those under way may finish until the deadline, then every
   * connection is cut. Resolves when the port is free. Safe to call twice.
   */
  close(deadline?: Duration): Promise<void>;
};

const CLOSE_TIMEOUT_MS = 10_000;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const limits = { ...HTTP_LIMITS, ...options.limits };
  const log = options.log ?? SILENT_LOG;
  let closing: Promise<void> | undefined;
  const connections = createConnections(limits, (reason) => options.cut?.(reason));
  const app = buildApp(options, limits, connections);
  const methodsOf = watchRoutes(app);

  // An expectation that we do not know may be passed over (RFC 9110, 10.1.1); Node would answer 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const refusals = createRefusalLog(log);
  const refuse = (reply: FastifyReply, fault: CarillonError): void => {
    logFault(log, refusals, fault, reply.request);
    sendProblem(reply, fault);
  };
  refuseLateRequests(app, limits.handlerTimeout, refuse);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (options.headers) reply.headers(options.headers);
    if (isOverTls(request)) reply.headers(HSTS);
    const stopping = closing !== undefined && !HEALTH_PATHS.has(request.url);
    if (stopping) {
      reply.header('connection', 'close');
      throw new CarillonError(
        'stopping',
        'Send the request again: another process accepts it, or this process after its restart.',
      );
    }
    if (!hasOneHost(request.raw)) {
      throw new CarillonError('invalid_request', 'An HTTP/1.1 request needs exactly one Host header.');
    }
    if (request.is404) throw unrouted(request, reply, methodsOf);
    done();
  });
  // Hooks without promises: each of these would cost every request further turns of the queue of microtasks.
  app.addHook('onSend', (request, _reply, payload, done) => {
    discardUnreadBody(request.raw);
    done(null, payload);
  });
  if (options.answered) reportAnswers(app, options.answered);
  // Like the hooks, because the refusals of a flood pass here.
  app.setErrorHandler((error, { routeOptions: { bodyLimit: maxBodyBytes } }, reply) =>
    refuse(reply, requestFault(error, { ...limits, maxBodyBytes })),
  );
  app.setNotFoundHandler(async (request, reply) => sendProblem(reply, unrouted(request, reply, methodsOf)));
  serveHealth(app, options, () => closing !== undefined, options.bareHealth ?? false);

  return {
    app,
    listen: () => listen(app, options, limits),
    close(deadline = CLOSE_TIMEOUT_MS) {
      closing ??= closeGracefully(app, connections, deadline).finally(() => refusals.flush());
      return closing;
    },
  };
}

/**
 * Refusals by reply instead of a field on it, because replies to requests that the framework refuses have no
 * decorators.
 */
const REFUSALS = new WeakMap<FastifyReply, CarillonError>();

/** Returns why a request was refused. Null if it was not. */
export const refusalOf = (reply: FastifyReply): CarillonError | null => REFUSALS.get(reply) ?? null;

/** Answers with the problem of an error. */
export function sendProblem(reply: FastifyReply, error: CarillonError): FastifyReply {
  const answer = problemOf(error, reply.request.id);
  REFUSALS.set(reply, error);
  // A text is sent in one piece with the head. The serializer keeps the framework from changing the media type.
  return reply.code(answer.status).headers(answer.headers).serializer(asItIs).send(JSON.stringify(answer.body));
}

const asItIs = (body: string): string => body;

function buildApp(options: HttpServerOptions, limits: HttpLimits, connections: Connections): FastifyInstance {
  return fastify({
    logger: false,
    genReqId: options.newRequestId,
    bodyLimit: limits.maxBodyBytes,
    return503OnClosing: true,
    forceCloseConnections: 'idle',
    trustProxy: options.trustedProxies?.length ? [...options.trustedProxies] : false,
    routerOptions: { maxParamLength: 2048 },
    serverFactory: (handler) => openServer(handler, limits, connections),
    clientErrorHandler: (error, socket: Socket) => {
      const answer = connections.newestAnswer(socket);
      const begun = answer !== undefined && answer.headersSent && !answer.writableFinished;
      refuseMalformed(error, socket, begun, { 'x-request-id': options.newRequestId(), ...options.headers });
    },
    frameworkErrors: (error, _request, reply) => {
      sendProblem(reply.headers({ 'x-request-id': reply.request.id, ...options.headers }), requestFault(error, limits));
    },
  });
}

function openServer(handler: RequestListener, limits: HttpLimits, connections: Connections): Server {
  const options = {
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: limits.checkInterval,
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    // Checked by ourselves, because Node answers without a body.
    requireHostHeader: false,
  };
  const server = createServer(options, connections.gate(handler));
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
  server.setTimeout(limits.connectionTimeout);
  connections.watch(server);
  return server;
}

/** One shared error, because capturing a stack for each would be most of the cost of refusing. */
const NOWHERE = new CarillonError('not_found', 'There is nothing at this path. Check the URL.');

/** The path is there but not with this method, or it is not there at all. */
function unrouted(
  request: FastifyRequest,
  reply: FastifyReply,
  methodsOf: (path: string) => readonly string[],
): CarillonError {
  const [path = ''] = request.url.split('?');
  const methods = methodsOf(path);
  if (methods.length === 0) return NOWHERE;
  reply.header('allow', methods.join(', '));
  return new CarillonError('method_not_allowed', `This path supports ${methods.join(', ')}.`);
}

function logFault(log: HttpLog, refusals: RefusalLog, fault: CarillonError, request: FastifyRequest): void {
  if (ERRORS[fault.code].status < 500 || fault.code === 'stopping') return;
  const facts = {
    request_id: request.id,
    method: request.method,
    route: request.routeOptions.url ?? null,
    code: fault.code,
    ...(fault.cause !== undefined && { error: fault.cause }),
  };
  if (fault.code === 'internal') log.error(facts, ERRORS[fault.code].title);
  else if (fault.cause === undefined) refusals.tell(facts, ERRORS[fault.code].title);
  else log.warn(facts, ERRORS[fault.code].title);
}

function reportAnswers(app: FastifyInstance, answered: (request: AnsweredRequest) => void): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const problem = refusalOf(reply)?.code ?? null;
    answered({ route, method: request.method, status: reply.statusCode, problem, span: reply.elapsedTime });
    done();
  });
}

async function closeGracefully(app: FastifyInstance, connections: Connections, deadline: Duration): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadline);
  });
  await Promise.race([connections.quiet(), over]);
  clearTimeout(timer);
  const closed = app.close();
  app.server.closeAllConnections();
  await closed;
}

async function listen(app: FastifyInstance, options: HttpServerOptions, limits: HttpLimits): Promise<Listening> {
  const { host, port } = options;
  try {
    // The event loop accepts one connection per tick. The system drops connections beyond the backlog.
    await app.listen({ host, port, backlog: limits.maxConnections });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw await portInUse(options, error);
  }
  const bound = app.server.address() as AddressInfo;
  // The wildcard address cannot be opened. Readers on this machine reach the server at the loopback address.
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return { address: `http://${isIPv6(reached) ? `[${reached}]` : reached}:${bound.port}`, port: bound.port };
}

async function portInUse({ host, port, portSetting }: HttpServerOptions, cause: unknown): Promise<CarillonError> {
  const holder = await findPortHolder(port);
  const who = holder ? `process ${holder.pid} (${holder.command})` : 'another process';
  const detail = `${host}:${port} is held by ${who}. Stop it, or choose another port with ${portSetting}.`;
  return new CarillonError('port_in_use', detail, {}, { cause });
}
