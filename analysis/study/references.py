"""The works that methods sections cite, by the keys of mechanisms and intervals.

``docs/methods.md`` has these works and more. A DOI is given if there is one.
"""

#: The full text of each reference.
REFERENCES = {
    "acharya2019": (
        "Acharya J, Sun Z, Zhang H (2019). Hadamard response: estimating distributions "
        "privately, efficiently, and with little communication. AISTATS, PMLR 89, 1120–1129"
    ),
    "arcolezi2021": (
        "Arcolezi HH, Couchot J-F, Al Bouna B, Xiao X (2021). Random sampling plus fake data: "
        "multidimensional frequency estimates with local differential privacy. CIKM, 47–57. "
        "doi:10.1145/3459637.3482467"
    ),
    "boruch1971": (
        "Boruch RF (1971). Assuring confidentiality of responses in social research: a note on "
        "strategies. The American Sociologist 6(4), 308–311"
    ),
    "canonne2022": (
        "Canonne CL, Kamath G, Steinke T (2022). The discrete Gaussian for differential "
        "privacy. Journal of Privacy and Confidentiality 12(1). doi:10.29012/jpc.784"
    ),
    "clopper1934": (
        "Clopper CJ, Pearson ES (1934). The use of confidence or fiducial limits illustrated in"
        " the case of the binomial. Biometrika 26(4), 404–413. doi:10.1093/biomet/26.4.404"
    ),
    "domingo2020": (
        "Domingo-Ferrer J, Soria-Comas J (2020). Multi-dimensional randomized response. "
        "arXiv:2010.10881"
    ),
    "duchi2018": (
        "Duchi JC, Jordan MI, Wainwright MJ (2018). Minimax optimal procedures for locally "
        "private estimation. Journal of the American Statistical Association 113(521), 182–201."
        " doi:10.1080/01621459.2017.1389735"
    ),
    "dwork2014": (
        "Dwork C, Roth A (2014). The algorithmic foundations of differential privacy. "
        "Foundations and Trends in Theoretical Computer Science 9(3–4), 211–407. "
        "doi:10.1561/0400000042"
    ),
    "erlingsson2014": (
        "Erlingsson Ú, Pihur V, Korolova A (2014). RAPPOR: randomized aggregatable "
        "privacy-preserving ordinal response. CCS, 1054–1067. doi:10.1145/2660267.2660348"
    ),
    "feldman1998": (
        "Feldman GJ, Cousins RD (1998). Unified approach to the classical statistical analysis "
        "of small signals. Physical Review D 57(7), 3873–3889. doi:10.1103/PhysRevD.57.3873"
    ),
    "fieller1954": (
        "Fieller EC (1954). Some problems in interval estimation. Journal of the Royal "
        "Statistical Society B 16(2), 175–185. doi:10.1111/j.2517-6161.1954.tb00159.x"
    ),
    "ghosh2012": (
        "Ghosh A, Roughgarden T, Sundararajan M (2012). Universally utility-maximizing privacy "
        "mechanisms. SIAM Journal on Computing 41(6), 1673–1693. doi:10.1137/09076828X"
    ),
    "greenberg1969": (
        "Greenberg BG, Abul-Ela A-LA, Simmons WR, Horvitz DG (1969). The unrelated question "
        "randomized response model: theoretical framework. Journal of the American Statistical "
        "Association 64(326), 520–539. doi:10.1080/01621459.1969.10500991"
    ),
    "huber1973": (
        "Huber PJ, Strassen V (1973). Minimax tests and the Neyman-Pearson lemma for capacities. "
        "Annals of Statistics 1(2), 251–263. doi:10.1214/aos/1176342363"
    ),
    "kairouz2016": (
        "Kairouz P, Oh S, Viswanath P (2016). Extremal mechanisms for local differential "
        "privacy. Journal of Machine Learning Research 17(17), 1–51"
    ),
    "kasiviswanathan2011": (
        "Kasiviswanathan SP, Lee HK, Nissim K, Raskhodnikova S, Smith A (2011). What can we "
        "learn privately? SIAM Journal on Computing 40(3), 793–826. doi:10.1137/090756090"
    ),
    "li2020": (
        "Li Z, Wang T, Lopuhaä-Zwakenberg M, Li N, Škorić B (2020). Estimating numerical "
        "distributions under local differential privacy. SIGMOD, 621–635. "
        "doi:10.1145/3318464.3389700"
    ),
    "mcsherry2007": (
        "McSherry F, Talwar K (2007). Mechanism design via differential privacy. FOCS, 94–103. "
        "doi:10.1109/FOCS.2007.66"
    ),
    "wang2017": (
        "Wang T, Blocki J, Li N, Jha S (2017). Locally differentially private protocols for "
        "frequency estimation. USENIX Security, 729–745"
    ),
    "wang2018": (
        "Wang S, Huang L, Nie Y, Wang P, Xu H, Yang W (2018). PrivSet: set-valued data analyses"
        " with locale differential privacy. INFOCOM, 1088–1096"
    ),
    "wang2019": (
        "Wang N, Xiao X, Yang Y, Zhao J, Hui SC, Shin H, Shin J, Yu G (2019). Collecting and "
        "analyzing multidimensional data with local differential privacy. ICDE, 638–649. "
        "doi:10.1109/ICDE.2019.00063"
    ),
    "warner1965": (
        "Warner SL (1965). Randomized response: a survey technique for eliminating evasive "
        "answer bias. Journal of the American Statistical Association 60(309), 63–69. "
        "doi:10.1080/01621459.1965.10480775"
    ),
    "wilson1927": (
        "Wilson EB (1927). Probable inference, the law of succession, and statistical "
        "inference. Journal of the American Statistical Association 22(158), 209–212. "
        "doi:10.1080/01621459.1927.10502953"
    ),
    "ye2018": (
        "Ye M, Barg A (2018). Optimal schemes for discrete distribution estimation under "
        "locally differential privacy. IEEE Transactions on Information Theory 64(8), "
        "5662–5676. doi:10.1109/TIT.2018.2809790"
    ),
    "yu2008": (
        "Yu J-W, Tian G-L, Tang M-L (2008). Two new models for survey sampling with sensitive "
        "characteristic: design and analysis. Metrika 67(3), 251–263. "
        "doi:10.1007/s00184-007-0131-x"
    ),
}


class Cited:
    """References in the order in which a text first cites them."""

    def __init__(self) -> None:
        self._cited: list[str] = []

    def cite(self, *references: str) -> str:
        """Return the numbers of references in brackets, given by keys or whole texts."""
        for reference in references:
            if reference not in self._cited:
                self._cited.append(reference)
        return f"[{', '.join(str(self._cited.index(one) + 1) for one in references)}]"

    def listed(self) -> str:
        """Return all cited references, each after its number."""
        texts = (REFERENCES.get(one, one) for one in self._cited)
        return " ".join(f"[{number}] {text}." for number, text in enumerate(texts, 1))
