// The extension that submits the prompt in VS Code's chat, as a person does, and reports its end.

const vscode = require('vscode')

const MODEL = { vendor: 'customendpoint' }

async function hasModel () {
  return (await vscode.lm.selectChatModels(MODEL)).length > 0
}

async function awaitModel () {
  let heard
  const changed = new Promise(resolve => { heard = vscode.lm.onDidChangeChatModels(async () => { if (await hasModel()) resolve() }) })
  if (!await hasModel()) await changed
  heard.dispose()
}

async function answer () {
  console.log('LAB setup')
  const x = await vscode.commands.executeCommand('workbench.action.chat.triggerSetupAnonymousWithoutDialog')
  console.log('LAB set up', x)
  await awaitModel()
  console.log('LAB model')
  const result = await vscode.commands.executeCommand('workbench.action.chat.open', {
    query: process.env.LAB_PROMPT, mode: 'agent', modelSelector: MODEL, blockOnResponse: true
  })
  return { text: JSON.stringify(result) }
}

exports.activate = async () => {
  const body = await answer().catch(error => ({ error: `${error.stack}` }))
  await fetch(process.env.LAB_REPORT, { method: 'POST', body: JSON.stringify(body) })
}
