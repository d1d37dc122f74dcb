# Installs bmad-mcp for this account, on Windows:
#
#   irm https://github.com/bmad-mcp/bmad-mcp/releases/latest/download/install.ps1 | iex
#   .\install.ps1 [-Prefix DIR] [-Version VERSION] [-From URL]
#
#   -Prefix   where bmad-mcp.exe goes (default: %LOCALAPPDATA%\Programs\bmad-mcp)
#   -Version  which release (default: the latest)
#   -From     where the files of the release are (default: its page on GitHub)
#
# It downloads, compares the checksum, starts the program once, and then puts it in place. Whatever
# fails before that changes nothing.
# Exit codes: 0 installed, 3 no program for this system, 4 not downloaded, 5 wrong checksum,
# 6 cannot be written.
param(
    [string]$Prefix = "",
    [string]$Version = "",
    [string]$From = ""
)

function Install-BmadMcp {
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue'

    function Stop-Install([int]$Code, [string]$Words) {
        $failure = New-Object System.Exception($Words)
        $failure.Data['code'] = $Code
        throw $failure
    }

    $releases = 'https://github.com/bmad-mcp/bmad-mcp/releases'
    if (-not $Prefix) { $Prefix = Join-Path (Join-Path $env:LOCALAPPDATA 'Programs') 'bmad-mcp' }
    if (-not $From) {
        $From = "$releases/latest/download"
        if ($Version) { $From = "$releases/download/v$($Version.TrimStart('v'))" }
    }
    $From = $From.TrimEnd('/')

    # A 32-bit PowerShell sees the machine in the second variable.
    $machine = $env:PROCESSOR_ARCHITECTURE
    if ($env:PROCESSOR_ARCHITEW6432) { $machine = $env:PROCESSOR_ARCHITEW6432 }
    $arch = ''
    if ($machine -eq 'AMD64') { $arch = 'amd64' }
    if ($machine -eq 'ARM64') { $arch = 'arm64' }
    if (-not $arch) { Stop-Install 3 "there is no program for Windows on $machine, only for x64 and arm64" }
    $archive = "bmad-mcp-windows-$arch.zip"

    $work = Join-Path ([System.IO.Path]::GetTempPath()) ([System.Guid]::NewGuid().ToString())
    New-Item -ItemType Directory -Path $work | Out-Null
    $fresh = ''
    try {
        [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
        foreach ($file in @('SHA256SUMS', $archive)) {
            try {
                Invoke-WebRequest -UseBasicParsing -Uri "$From/$file" -OutFile (Join-Path $work $file)
            } catch {
                Stop-Install 4 "$From/$file could not be downloaded: $($_.Exception.Message) Is there a network, and does the version exist?"
            }
        }
        $want = ''
        foreach ($line in Get-Content (Join-Path $work 'SHA256SUMS')) {
            if ($line -match '^([0-9a-f]{64}) [ *](.+)$' -and $Matches[2] -eq $archive) { $want = $Matches[1] }
        }
        if (-not $want) { Stop-Install 5 "SHA256SUMS of $From does not name $archive" }
        $got = (Get-FileHash -Algorithm SHA256 -Path (Join-Path $work $archive)).Hash.ToLowerInvariant()
        if ($got -ne $want) {
            Stop-Install 5 "$archive is not what was released: its checksum is $got, not $want. Try again later; if it stays so, tell the developers"
        }
        $unpacked = Join-Path $work 'unpacked'
        Expand-Archive -Path (Join-Path $work $archive) -DestinationPath $unpacked

        $program = Join-Path $Prefix 'bmad-mcp.exe'
        $old = "$program.old"
        try {
            New-Item -ItemType Directory -Force -Path $Prefix | Out-Null
            $fresh = Join-Path $Prefix ".bmad-mcp.$PID.exe"
            Copy-Item (Join-Path $unpacked 'bmad-mcp.exe') $fresh
            $said = & $fresh version
            if ($LASTEXITCODE -ne 0) { throw "it does not start there" }
            Copy-Item (Join-Path $unpacked 'LICENSE') $Prefix -Force
            Copy-Item (Join-Path $unpacked 'THIRD_PARTY_LICENSES') $Prefix -Force
            # A program that runs can be renamed, but not replaced.
            if (Test-Path $old) { Remove-Item $old -Force -ErrorAction SilentlyContinue }
            if (Test-Path $program) { Move-Item $program $old -Force }
            try {
                Move-Item $fresh $program
            } catch {
                if (Test-Path $old) { Move-Item $old $program -Force }
                throw
            }
            $fresh = ''
            Remove-Item $old -Force -ErrorAction SilentlyContinue
        } catch {
            Stop-Install 6 "the program cannot be put into ${Prefix}: $($_.Exception.Message)"
        }

        Write-Output "$said is in $Prefix"
        $first = Get-Command bmad-mcp -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
        if (-not $first) {
            Write-Warning "$Prefix is not on your PATH; add it: [Environment]::SetEnvironmentVariable('Path', `"$Prefix;`" + [Environment]::GetEnvironmentVariable('Path', 'User'), 'User')"
            Write-Output "next: & '$program' install"
        } else {
            if ($first.Source -ne $program) { Write-Warning "another one comes first on your PATH: $($first.Source); remove it, or put $Prefix before it" }
            Write-Output 'next: bmad-mcp install'
        }
    } finally {
        Remove-Item $work -Recurse -Force -ErrorAction SilentlyContinue
        if ($fresh -and (Test-Path $fresh)) { Remove-Item $fresh -Force -ErrorAction SilentlyContinue }
    }
}

# Last, so that a script that was cut in its download does nothing.
try {
    Install-BmadMcp
} catch {
    [Console]::Error.WriteLine("install.ps1: $($_.Exception.Message)")
    $code = 1
    if ($_.Exception.Data.Contains('code')) { $code = $_.Exception.Data['code'] }
    # A script that was piped to iex would close the window with exit.
    if ($PSCommandPath) { exit $code }
    $global:LASTEXITCODE = $code
}
