// One prompt for VS Code's chat: a server of the editor, a browser without a screen that opens it, and an
// extension of ours in the editor that submits the prompt and reports the end.
//
//   node _vs_code_session.mjs PROMPT FOLDER SHARED PROGRAM...
//
// SHARED keeps what is unpacked once. The browser is that of the package beside the program, or one on PATH.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [prompt, folder, shared, ...program] = process.argv.slice(2)
const BROWSERS = ['chromium', 'chromium-headless-shell', 'google-chrome', 'chrome']
const FLAGS = ['--headless=shell', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
  '--no-proxy-server', '--window-size=1400,900']
const children = []

function start (argv, environment = {}) {
  const child = spawn(argv[0], argv.slice(1), {
    env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'], detached: true
  })
  children.push(child)
  child.on('error', error => finish(1, `cannot start ${argv[0]}: ${error.message}`))
  child.on('exit', code => finish(1, `${argv[0]} has ended with ${code}`))
  return child
}

function finish (code, text) {
  (code ? process.stderr : process.stdout).write(`${text}\n`)
  for (const child of children) {
    try { process.kill(-child.pid, 'SIGKILL') } catch { /* it has ended */ }
  }
  process.exit(code)
}

// The browser's program and the environment that it needs.
async function findBrowser () {
  const unpacked = join(shared, 'browser')
  if (!existsSync(unpacked) && !await unpack(unpacked)) {
    const folders = process.env.PATH.split(delimiter)
    const paths = BROWSERS.flatMap(name => folders.map(path => join(path, name)))
    return [paths.find(existsSync), {}]
  }
  return [join(unpacked, 'chromium'), {
    LD_LIBRARY_PATH: join(unpacked, 'al2023', 'lib'), FONTCONFIG_FILE: join(unpacked, 'fonts.conf')
  }]
}

// Unpack the browser of the package beside the program, with the libraries that a machine without a desktop
// lacks; false without such a package. Another run may do so at the same time.
async function unpack (place) {
  let found
  try {
    found = createRequire(realpathSync(program[1])).resolve('@sparticuz/chromium')
  } catch {
    return false
  }
  const draft = mkdtempSync(`${place}~`)
  const before = process.env.TMPDIR
  Object.assign(process.env, { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x', TMPDIR: draft })
  const { default: chromium } = await import(pathToFileURL(found))
  await chromium.executablePath()
  process.env.TMPDIR = before
  writeFileSync(join(draft, 'fonts.conf'), `<fontconfig><dir>${join(place, 'fonts', 'fonts')}</dir></fontconfig>`)
  try {
    renameSync(draft, place)
  } catch {
    rmSync(draft, { recursive: true })
  }
  return true
}

async function listen () {
  const server = createServer((request, response) => {
    const parts = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      response.end()
      const { text, error } = JSON.parse(Buffer.concat(parts).toString())
      finish(error ? 1 : 0, error ?? text)
    })
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${server.address().port}`
}

function log(what) { process.stderr.write(`${(performance.now() / 1000).toFixed(2)} ${what}\n`) }

const own = process.env.TMPDIR
const report = await listen()
const editor = start([...program, '--auth=none', '--bind-addr=127.0.0.1:0', '--disable-telemetry',
  '--disable-update-check', '--disable-getting-started-override', '--log=debug'],
{ LAB_PROMPT: prompt, LAB_REPORT: report })
editor.stderr.on('data', text => process.stderr.write(text))
const [browser, libraries] = await findBrowser()
if (!browser) finish(1, `no browser: none of ${BROWSERS.join(', ')} is on PATH`)
log(`browser ${browser}`)
for await (const line of createInterface({ input: editor.stdout })) {
  process.stderr.write(`${line}\n`)
  const [, url] = /HTTP server listening on (\S+)/.exec(line) ?? []
  if (url) {
    log('listening')
    const page = start([browser, ...FLAGS, `--user-data-dir=${own}/browser`, '--remote-debugging-port=' + (process.env.LAB_DEBUG ?? '0'), '--enable-logging=stderr',
      `${url}?folder=${encodeURIComponent(folder)}`], { ...libraries, TMPDIR: own })
    page.stderr.on('data', text => process.stderr.write(text))
    page.stdout.resume()
  }
}
finish(1, 'the editor has ended')
