# PowerShell completion for poptic
Register-ArgumentCompleter -Native -CommandName poptic -ScriptBlock {
    param($current, $ast, $cursor)
    $words = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor -or -not $current } | ForEach-Object { $_.ToString() })
    $arguments = @($words | Select-Object -Skip 1)
    & $words[0] __complete @arguments "=$current" 2>$null | ForEach-Object {
        $candidate, $text = $_ -split "`t", 2
        if ($candidate -eq ':files' -or $candidate -eq ':folders') {
            [System.Management.Automation.CompletionCompleters]::CompleteFilename($current)
        } else {
            if (-not $text) { $text = $candidate }
            [System.Management.Automation.CompletionResult]::new($candidate, $candidate, 'ParameterValue', $text)
        }
    }
}
